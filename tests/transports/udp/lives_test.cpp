// SPDX-License-Identifier: Apache-2.0
// A group whose ranks end and come again under the same key and number, on a network that loses, doubles, reorders,
// keeps everything that was ever said, says it again at any time, and forges: nobody passes a barrier that not all
// ranks of the same use of the group have entered, and a group that begins anew comes to an end.
#include "hand.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

struct Parcel {
    Rank to;
    Rank from;
    toll_frame frame;
};

/// One process as one rank.
struct Life {
    Life(const Plan& plan, Rank self, std::uint64_t drawn, std::uint64_t digest, toll_key key = {42, 43})
        : steps(compile_steps(plan, self)),
          runner(
              steps.data(), static_cast<std::uint32_t>(steps.size()), 0,
              UdpTransport(
                  Protocol(
                      {.key = key, .group = 1, .self = self, .ranks = plan.ranks(), .digest = digest, .drawn = drawn},
                      steps, 0, outbox),
                  wait_policy::automatic, {}, outbox)) {
        protocol.introduce();
    }

    Outbox outbox;
    std::vector<toll_step> steps;
    Runner<UdpTransport> runner;
    Protocol& protocol = runner.transport().protocol();
    std::uint64_t use = 0;  ///< the incarnation, once it has one
};

class World {
public:
    World(const Plan& plan, std::uint64_t seed) : plan_(plan), random_(seed), lives_(plan.ranks()) {
        for (Rank rank = 0; rank < plan.ranks(); ++rank) begin(rank);
    }

    void begin(Rank rank, std::uint64_t digest = 1) {
        lives_[rank] = std::make_unique<Life>(plan_, rank, random_() | 1, digest);
        if (rank == 0) ++uses_;
        collect(rank);
    }

    /// Anything that may happen, one thing at a time.
    void live(int events, bool restarts) {
        for (int i = 0; i < events; ++i) {
            const auto rank = static_cast<Rank>(random_() % plan_.ranks());
            switch (random_() % 16) {
                case 0: turn(rank); break;
                case 1: say_again(); break;
                case 2: forge(); break;
                case 3:
                    if (restarts && random_() % 32 == 0) begin(rank);
                    break;
                default: deliver();
            }
        }
    }

    /// All begin anew; every rank must come to that episode. Old frames come all the time.
    bool reaches(Episode episode) {
        for (Rank rank = 0; rank < plan_.ranks(); ++rank) begin(rank);
        for (int i = 0; i < 200000; ++i) {
            live(1, false);
            bool all = true;
            for (const auto& life : lives_) all &= life->runner.episode() > episode;
            if (all) return true;
        }
        return false;
    }

    Life& life(Rank rank) { return *lives_[rank]; }
    int violations() const { return violations_; }
    std::uint64_t left() const { return left_; }

private:
    /// Waits on, or asks again, or enters the next one.
    void turn(Rank rank) {
        Life& one = *lives_[rank];
        if (one.runner.finished()) {
            one.runner.start();
            note_entered(rank);
            advance(rank);
        } else {
            one.protocol.pull();
            if (random_() % 4 == 0) one.protocol.ask(2);
        }
        collect(rank);
    }

    void hear(const Parcel& parcel) {
        Life& one = *lives_[parcel.to];
        const bool before = one.protocol.admitted();
        one.protocol.hear(std::as_bytes(std::span(&parcel.frame, 1)), parcel.from);
        if (!before && one.protocol.admitted()) note_entered(parcel.to);
        if (!one.runner.finished()) advance(parcel.to);
        collect(parcel.to);
    }

    void advance(Rank rank) {
        Life& one = *lives_[rank];
        if (!one.runner.advance()) return;
        ++left_;
        const auto& entered = entered_[one.use];
        for (Rank other = 0; other < plan_.ranks(); ++other) {
            const auto found = entered.find(other);
            violations_ += found == entered.end() || found->second.second < one.runner.episode();
        }
    }

    /// What a rank has entered in a use of the group. Two processes that are the same rank in it are a violation.
    void note_entered(Rank rank) {
        Life& one = *lives_[rank];
        if (!one.protocol.admitted()) return;
        one.use = one.protocol.incarnation();
        auto& [who, episode] = entered_[one.use].try_emplace(rank, &one, 0).first->second;
        violations_ += who != &one;
        episode = one.runner.episode();
    }

    void collect(Rank rank) {
        for (const auto& [to, frame] : std::exchange(lives_[rank]->outbox.sent, {})) {
            ever_.push_back({to, rank, frame});
            if (random_() % 8 != 0) under_way_.push_back(ever_.back());
            if (random_() % 8 == 0) under_way_.push_back(ever_.back());
        }
        while (under_way_.size() > 200) under_way_.pop_front();
    }

    void deliver() {
        if (under_way_.empty()) return;
        std::swap(under_way_[random_() % under_way_.size()], under_way_.back());
        const Parcel parcel = under_way_.back();
        under_way_.pop_back();
        hear(parcel);
    }

    void say_again() {
        if (!ever_.empty()) hear(ever_[random_() % ever_.size()]);
    }

    /// By somebody who has heard everything and has no key.
    void forge() {
        if (ever_.empty()) return;
        Parcel parcel = ever_[random_() % ever_.size()];
        const Life& victim = *lives_[parcel.to];
        parcel.frame.kind = static_cast<toll_u8>(1 + random_() % 12);
        parcel.frame.episode = toll_net64(victim.runner.episode() + random_() % 2);
        parcel.frame.incarnation = victim.use;
        hear(parcel);
    }

    Plan plan_;
    std::mt19937_64 random_;
    std::vector<std::unique_ptr<Life>> lives_;
    std::map<std::uint64_t, std::map<Rank, std::pair<const Life*, Episode>>> entered_;  ///< by use
    std::vector<Parcel> ever_;
    std::deque<Parcel> under_way_;
    int uses_ = 0, violations_ = 0;
    std::uint64_t left_ = 0;
};

}  // namespace

TEST_CASE("ranks that end and come again release nobody early, whatever is said again or forged") {
    std::uint64_t left = 0;
    for (const char* spelling : {"pairwise", "dissemination", "central", "mcs"})
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            CAPTURE(spelling);
            CAPTURE(seed);
            World world(make_plan(spelling, 4), seed);
            world.live(4000, true);
            REQUIRE(world.violations() == 0);
            REQUIRE(world.reaches(3));
            REQUIRE(world.violations() == 0);
            left += world.left();
        }
    CHECK(left > 2000);  // it was no barrier that nobody leaves
}

TEST_CASE("more ranks than one admits come to their first barrier's end") {
    World world(make_plan("dissemination", 70), 1);
    CHECK(world.reaches(1));
    CHECK(world.violations() == 0);
}

TEST_CASE("a rank that comes again is refused, and whoever has another plan is named on both sides") {
    World world(make_plan("pairwise", 4), 3);
    REQUIRE(world.reaches(1));
    world.begin(2);
    world.live(3000, false);
    CHECK(!world.life(2).protocol.admitted());
    CHECK(world.life(2).protocol.refused());
    CHECK(world.life(2).protocol.refusal().why == toll_used_before);
    CHECK(world.life(2).protocol.refusal().other == 0);

    World other(make_plan("pairwise", 4), 4);
    other.begin(3, 2);
    other.live(3000, false);
    CHECK(other.life(3).protocol.refused());
    CHECK(!other.life(0).protocol.refused());
    CHECK(other.life(3).protocol.refusal().why == toll_other_plan);
    CHECK(other.life(0).protocol.refusal().why == toll_other_plan);
    CHECK(other.life(0).protocol.refusal().other == 3);
    CHECK(other.left() == 0);
    CHECK(other.life(3).runner.episode() <= 1);
}

TEST_CASE("who is refused gives up, and nobody is by what was said to another process, before, or by others") {
    const auto refusal = [](toll_refusal why, std::uint64_t drawn, Rank source = 0) {
        return written(toll_refuse, source, why, 0, {.incarnation = drawn, .to = 1});
    };
    Life one(make_plan("pairwise", 4), 1, 1000, Writing().digest, {Writing().key, 0});
    one.runner.start();
    const auto hear = [&](const toll_frame& frame, Rank from) {
        one.protocol.hear(std::as_bytes(std::span(&frame, 1)), from);
        return one.protocol.refused();
    };
    CHECK_FALSE(hear(refusal(toll_used_before, 999), 0));      // to an earlier process of this rank
    CHECK_FALSE(hear(refusal(toll_used_before, 1000, 2), 2));  // by a rank that admits nobody
    toll_frame forged = refusal(toll_used_before, 1000);
    forged.mac ^= 1;
    CHECK_FALSE(hear(forged, 0));
    toll_frame other_plan = refusal(toll_other_plan, 1000);
    other_plan.digest ^= 1;
    seal(other_plan);
    CHECK_FALSE(hear(other_plan, 0));  // of who asked for another plan
    CHECK(hear(refusal(toll_used_before, 1000), 0));

    Hand admitted(make_plan("pairwise", 4), 1);
    admitted.start();
    admitted.hear(refusal(toll_used_before, Hand::drawn), 0);
    CHECK_FALSE(admitted.protocol.refused());
}

TEST_CASE("who refuses another one before it is admitted itself is not refused by that") {
    Life one(make_plan("dissemination", 70), 1, 1000, Writing().digest, {Writing().key, 0});
    toll_frame join = written(toll_join, 65, 0, 0, {.digest = 8, .incarnation = 2000, .to = 1});
    one.outbox.sent.clear();
    one.protocol.hear(std::as_bytes(std::span(&join, 1)), 65);
    CHECK(one.outbox.take() == std::vector<std::string>{"refuse step 2 episode 0 to 65"});
    CHECK_FALSE(one.protocol.refused());
}

TEST_CASE("forged frames and late ones refuse nobody who is the first of its rank") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        World world(make_plan("pairwise", 4), seed);
        world.live(4000, false);
        for (Rank rank = 0; rank < 4; ++rank) CHECK_FALSE(world.life(rank).protocol.refused());
        world.begin(2);
        world.live(4000, false);
        for (const Rank rank : {0U, 1U, 3U}) CHECK_FALSE(world.life(rank).protocol.refused());
    }
}

TEST_CASE(
    "hundreds of ranks that ask each other leave within twice the timer once the last has come, whatever the plan") {
    constexpr Rank ranks = 512;
    constexpr int timer = 20;
    for (const char* spelling : {"central", "combining", "fway_tournament", "mcs", "tournament", "bst", "butterfly",
                                 "pairwise", "dissemination"}) {
        CAPTURE(spelling);
        const Plan plan = make_plan(spelling, ranks);
        std::vector<std::unique_ptr<Life>> lives(ranks);
        std::vector<int> due(ranks, timer);
        std::vector<std::uint64_t> news(ranks);
        std::deque<Parcel> under_way;
        const auto collect = [&](Rank rank) {
            for (const auto& [to, frame] : std::exchange(lives[rank]->outbox.sent, {}))
                if (lives[to]) under_way.push_back({to, rank, frame});  // nobody is there yet: lost
        };
        const auto settle = [&] {
            for (; !under_way.empty(); under_way.pop_front()) {
                const Parcel parcel = under_way.front();
                lives[parcel.to]->protocol.hear(std::as_bytes(std::span(&parcel.frame, 1)), parcel.from);
                if (!lives[parcel.to]->runner.finished()) lives[parcel.to]->runner.advance();
                collect(parcel.to);
            }
        };
        const auto come = [&](Rank rank) {
            lives[rank] = std::make_unique<Life>(plan, rank, rank + 1, 1);
            lives[rank]->runner.start();
            lives[rank]->runner.advance();
            collect(rank);
        };
        int came = 0, over = 0;
        for (Rank rank = 1; rank < ranks; ++rank) come(rank);
        for (int now = 1; over < static_cast<int>(ranks) && now < 20 * timer; ++now) {
            if (now == 5 * timer) {
                come(0);
                came = now;
            }
            for (Rank rank = 0; rank < ranks; ++rank) {
                if (!lives[rank] || lives[rank]->runner.finished()) continue;
                if (std::exchange(news[rank], lives[rank]->protocol.news()) != lives[rank]->protocol.news())
                    due[rank] = now + timer;
                if (now < due[rank]) continue;
                due[rank] = now + timer;
                lives[rank]->protocol.pull();
                lives[rank]->protocol.ask(64);
                collect(rank);
            }
            settle();
            over = 0;
            for (const auto& life : lives) over += life && life->runner.finished();
            if (over == static_cast<int>(ranks)) CHECK(now - came <= 2 * timer);
        }
        CHECK(over == static_cast<int>(ranks));
    }
}

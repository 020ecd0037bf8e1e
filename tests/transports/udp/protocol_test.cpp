// SPDX-License-Identifier: Apache-2.0
// What each frame proves, how each question is answered, and that a million frames that prove nothing release nobody.
#include "hand.hpp"

#include <tollbar/algorithms.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::testing;

namespace {

using Sent = std::vector<std::string>;

Plan dissemination(Rank ranks) { return make_plan("dissemination", ranks); }

}  // namespace

TEST_CASE("a rank tells its plan's steps, each after the await before it") {
    Hand hand(dissemination(4), 0);
    CHECK_FALSE(hand.start());
    CHECK(hand.outbox.take() == Sent{"signal step 0 episode 1 to 1"});
    hand.hear(toll_signal, 2, 1, 1);  // the second round's came first
    CHECK_FALSE(hand.advance());
    CHECK(hand.outbox.take() == Sent{});
    hand.hear(toll_signal, 3, 0, 1);
    CHECK(hand.advance());
    CHECK(hand.outbox.take() == Sent{"signal step 1 episode 1 to 2"});
}

TEST_CASE("every frame of the next episode completes this one, and the rest of it is told") {
    for (const toll_kind kind : {toll_signal, toll_pull, toll_ask, toll_here}) {
        CAPTURE(kind);
        Hand hand(dissemination(4), 0);
        hand.start();
        hand.outbox.take();
        // Rank 3's first signal, rank 1's pull for this rank's first, or rank 2's word that it is there.
        const Rank source = kind == toll_signal ? 3 : kind == toll_pull ? 1 : 2;
        hand.hear(kind, source, 0, 2);
        CHECK(hand.advance());
        CHECK(hand.outbox.take().back() == "signal step 1 episode 1 to 2");
        CHECK(hand.protocol.missing().empty());
    }
}

TEST_CASE("who has left an episode completes it for the others") {
    Hand hand(dissemination(4), 0);
    hand.start();
    hand.hear(toll_leave, 1, 0, 1);
    CHECK(hand.advance());
}

TEST_CASE("a frame of this episode completes nothing but its own step") {
    Hand hand(dissemination(4), 0);
    hand.start();
    for (const Rank source : {1U, 2U, 3U}) {
        hand.hear(toll_here, source, 0, 1);
        hand.hear(toll_ask, source, 0, 1);
    }
    CHECK_FALSE(hand.advance());
    CHECK(hand.protocol.missing().empty());  // all have arrived, but nobody has proved that to anybody
    hand.hear(toll_signal, 3, 0, 1);
    CHECK_FALSE(hand.advance());
    hand.hear(toll_signal, 2, 1, 1);
    CHECK(hand.advance());
}

TEST_CASE("a pull is answered by the newest episode that was told, and not before one was") {
    Hand hand(dissemination(4), 0);
    hand.start();
    hand.outbox.take();
    hand.hear(toll_pull, 1, 0, 1);
    CHECK(hand.outbox.take() == Sent{"signal step 0 episode 1 to 1"});
    hand.hear(toll_pull, 2, 1, 1);  // its turn has not come
    CHECK(hand.outbox.take() == Sent{});
    hand.hear(toll_signal, 3, 0, 1);
    hand.hear(toll_signal, 2, 1, 1);
    hand.advance();
    hand.outbox.take();
    hand.hear(toll_pull, 2, 1, 1);  // outside, after the end
    CHECK(hand.outbox.take() == Sent{"signal step 1 episode 1 to 2"});
    hand.start();
    hand.outbox.take();
    hand.hear(toll_pull, 2, 1, 1);  // already in the next
    CHECK(hand.outbox.take() == Sent{"signal step 1 episode 1 to 2"});
}

TEST_CASE("a rank that is late asks whom it awaits, names whom it has not heard of, and says so when asked itself") {
    Hand hand(make_plan("central", 4), 0);
    hand.start();
    hand.protocol.pull();
    CHECK(hand.outbox.take().back() == "pull step 0 episode 1 to 1");  // after a call to those it has not admitted
    CHECK(hand.protocol.missing() == std::vector<Rank>{1, 2, 3});
    hand.hear(toll_signal, 1, 0, 1);
    hand.hear(toll_here, 3, 0, 1);
    CHECK(hand.protocol.missing() == std::vector<Rank>{2});
    hand.protocol.ask(8);
    CHECK(hand.outbox.take() == Sent{"ask step 0 episode 1 to 2"});
    hand.hear(toll_ask, 2, 0, 1);
    CHECK(hand.outbox.take() == Sent{"here step 0 episode 1 to 2"});
}

TEST_CASE("what others ask and where they are is no news, only what a rank waits for is") {
    Hand hand(make_plan("central", 3), 1);
    hand.start();
    const std::uint64_t before = hand.protocol.news();
    hand.hear(toll_ask, 2, 0, 1);
    hand.hear(toll_here, 2, 0, 1);
    hand.hear(toll_pull, 0, 0, 1);
    CHECK(hand.protocol.counts().news > 2);
    CHECK(hand.protocol.news() == before);
    hand.hear(toll_signal, 0, static_cast<toll_u16>(hand.steps.size() - 1), 1);
    CHECK(hand.protocol.news() != before);
}

TEST_CASE("whoever was told is needed until it has left") {
    Hand hand(dissemination(3), 0);
    hand.start();
    hand.hear(toll_signal, 2, 0, 1);
    hand.hear(toll_signal, 1, 1, 1);
    hand.advance();
    CHECK(hand.protocol.needed());
    hand.hear(toll_leave, 1, 0, 1);
    CHECK(hand.protocol.needed());
    hand.hear(toll_leave, 2, 0, 1);
    CHECK_FALSE(hand.protocol.needed());
}

TEST_CASE("a frame from another time, place, job, group or plan is dropped and counted") {
    Hand hand(dissemination(4), 0, 10);
    hand.start();
    const UdpCounts& counts = hand.protocol.counts();
    hand.hear(toll_signal, 3, 0, 9);
    hand.hear(toll_signal, 3, 0, 13);
    hand.hear(toll_leave, 3, 0, 12);
    CHECK(counts.off_time == 3);
    hand.hear(toll_signal, 2, 0, 11);
    hand.hear(toll_signal, 3, 2, 11);
    hand.hear(toll_pull, 3, 0, 11);
    hand.hear(toll_release, 3, 0, 11);
    CHECK(counts.off_plan == 4);
    hand.hear(written(toll_signal, 3, 0, 11), 2);
    hand.hear(written(toll_signal, 3, 0, 11), 4);
    hand.hear(toll_here, 0, 0, 12);
    hand.hear(toll_here, 4, 0, 12);
    CHECK(counts.other_source == 4);
    hand.hear(written(toll_signal, 3, 0, 11, {.key = 43}), 3);
    hand.hear(written(toll_signal, 3, 0, 11, {.group = 2}), 3);
    CHECK(counts.other_job == 1);
    CHECK(counts.other_group == 1);
    hand.protocol.hear({}, 3);
    CHECK(counts.malformed == 1);
    CHECK(counts.dropped() == 14);
    CHECK_FALSE(hand.advance());
}

namespace {

/// Frames that an enemy without the key, a broken network or an old episode may bring.
class Forger {
public:
    Forger(const std::vector<std::pair<toll_frame, Rank>>& old) : old_(old) {}

    /// Has the protocol hear one of them.
    void forge(Hand& hand, Episode now) {
        const auto source = static_cast<Rank>(random_() % 4);
        toll_frame frame = written(static_cast<toll_kind>(random_() % 8), source, random_() % 4,
                                   now + random_() % 3 - 1);
        std::size_t size = sizeof frame;
        Rank from = source;
        switch (random_() % 8) {
            case 0: size = random_() % sizeof frame; break;
            case 1: frame = written(toll_signal, source, frame.step % 2, now, {.key = random_()}); break;
            case 2: frame = written(toll_signal, source, frame.step % 2, now, {.group = 2U + frame.step}); break;
            case 3: from = static_cast<Rank>((source + 1 + random_() % 4) % 5); break;  // 4 is nobody
            case 4: alter(frame); break;
            case 6:
                frame = written(toll_signal, source, random_() % 2, now,
                                random_() % 2 == 0 ? Writing{.incarnation = 98} : Writing{.digest = 8});
                break;
            case 5: std::tie(frame, from) = old_[random_() % old_.size()]; break;
            default:
                frame = written(toll_signal, source, 0,
                                random_() % 2 == 0 ? now + 2 + random_() : now - 2 - random_() % 99);
                if (toll_net64(frame.episode) - (now - 1) < 3) ++frame.mac;
        }
        hand.protocol.hear(std::as_bytes(std::span(&frame, 1)).first(size), from);
    }

private:
    void alter(toll_frame& frame) {
        auto bytes = std::bit_cast<std::array<std::byte, sizeof frame>>(frame);
        bytes[random_() % bytes.size()] ^= static_cast<std::byte>(1 + random_() % 255);
        frame = std::bit_cast<toll_frame>(bytes);
    }

    const std::vector<std::pair<toll_frame, Rank>>& old_;
    std::mt19937_64 random_{7};
};

}  // namespace

TEST_CASE("a million forged, replayed, stale, altered and truncated frames release nobody and are all counted") {
    Hand hand(dissemination(4), 0, 5);
    std::vector<std::pair<toll_frame, Rank>> old;
    for (Episode episode = 6; episode < 9; ++episode) {
        hand.start();
        for (const auto& [step, source] : {std::pair<toll_u16, Rank>{0, 3}, {1, 2}}) {
            old.emplace_back(written(toll_signal, source, step, episode), source);
            hand.hear(old.back().first, source);
        }
        REQUIRE(hand.advance());
    }
    const std::uint64_t honest = hand.protocol.counts().news;
    hand.start();
    hand.outbox.take();
    Forger forger(old);
    constexpr std::uint64_t frames = 1000000;
    for (std::uint64_t i = 0; i < frames; ++i) {
        forger.forge(hand, hand.runner.episode());
        if (i % 1024 == 0) REQUIRE_FALSE(hand.advance());
    }
    CHECK_FALSE(hand.advance());
    const UdpCounts& counts = hand.protocol.counts();
    CHECK(counts.dropped() + counts.known == frames);
    CHECK(counts.news == honest);
    CHECK(hand.protocol.missing() == std::vector<Rank>{1, 2, 3});
    CHECK(hand.outbox.take() == Sent{});
    for (const auto count : {counts.malformed, counts.damaged, counts.other_job, counts.other_group,
                             counts.other_source, counts.off_time, counts.known})
        CHECK(count > 1000);
}

// SPDX-License-Identifier: Apache-2.0
// What the doors of MPI get conforms like every other transport: on one node, on several, by words and by messages.
#include "communicator/participant.h"

#include "local_p2p.hpp"
#include "transports/desk_harness.hpp"
#include "transports/visitor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cctype>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace tollbar;
using namespace tollbar::testing;

namespace {

struct Case {
    Rank ranks;
    Rank per_node;  ///< neighbouring ranks on one node
    const char* plan;
    tollbar_sharing sharing = TOLLBAR_SHARING_AUTO;
    bool meets = true;  ///< false: by messages, without a word to the others before
};

/// A rank with its point-to-point calls, as the suite wants it.
class MpiMember {
public:
    MpiMember(LocalWorld& world, const Case& c, Rank rank)
        : seat_(std::make_unique<LocalWorld::Seat>(LocalWorld::Seat{.world = &world, .rank = rank})),
          host_("node" + std::to_string(rank / c.per_node)) {
        const tollbar_p2p p2p = world.p2p(*seat_);
        tollbar_mpi_options options{};
        options.plan = c.plan;
        options.host = host_.c_str();
        options.sharing = c.sharing;
        options.budget_ms = -1;
        REQUIRE((c.meets ? tollbar_mpi_join : tollbar_mpi_join_by_messages)(&p2p, &options, &self_) == 0);
    }
    ~MpiMember() {
        if (self_ != nullptr) tollbar_mpi_leave(self_);
    }
    MpiMember(MpiMember&& other) noexcept
        : seat_(std::move(other.seat_)), host_(std::move(other.host_)), self_(std::exchange(other.self_, nullptr)),
          episode_(other.episode_) {}

    void arrive() { episode_ = tollbar_mpi_arrive(self_, nullptr); }
    bool test() { return tollbar_mpi_test(self_, episode_) != 0; }
    void wait() { tollbar_mpi_wait(self_, episode_); }
    void arrive_and_wait() {
        ++episode_;
        tollbar_mpi_arrive_and_wait(self_, nullptr);
    }
    bool wait_for(std::chrono::milliseconds limit) {
        return tollbar_mpi_wait_for(self_, episode_, std::chrono::duration<double>(limit).count()) != 0;
    }

    /// The numbers that follow the word "rank".
    std::vector<Rank> missing() const {
        std::string text(tollbar_mpi_missing(self_, nullptr, 0) + 1, '\0');
        tollbar_mpi_missing(self_, text.data(), text.size());
        std::vector<Rank> ranks;
        for (std::size_t at = text.find("rank "); at != std::string::npos; at = text.find("rank ", at + 1))
            ranks.push_back(static_cast<Rank>(std::stoul(text.substr(at + 5))));
        return ranks;
    }

    tollbar_mpi_participant* get() const { return self_; }

private:
    std::unique_ptr<LocalWorld::Seat> seat_;
    std::string host_;
    tollbar_mpi_participant* self_ = nullptr;
    std::uint64_t episode_ = 0;
};

static_assert(Member<MpiMember>);

class MpiHarness : public DeskHarness {
public:
    explicit MpiHarness(const Case& c) : DeskHarness(c.ranks), case_(c), world_(c.ranks) {
        for (Rank rank = 0; rank < c.ranks; ++rank)
            threads_.emplace_back([this, rank] { Visitor(MpiMember(world_, case_, rank), board_, rank).serve(); });
    }
    ~MpiHarness() override {
        for (Rank rank = 0; rank < ranks(); ++rank) begin(rank, Call::stop);
        for (std::thread& thread : threads_) thread.join();
    }

    /// Seats name exactly; what messages tell may name more.
    bool names_exactly() const override {
        return case_.per_node >= case_.ranks && case_.sharing == TOLLBAR_SHARING_AUTO && case_.meets;
    }

private:
    bool alive(Rank) override { return true; }

    Case case_;
    LocalWorld world_;
    std::vector<std::thread> threads_;
};

/// Every rank does its part in a thread of its own.
template <class Part>
void each(const Case& c, Part part) {
    LocalWorld world(c.ranks);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < c.ranks; ++rank)
        threads.emplace_back([&, rank] {
            MpiMember member(world, c, rank);
            part(member, rank);
        });
    for (std::thread& thread : threads) thread.join();
}

const std::vector<std::string> none;

std::vector<Rank> lates(Rank ranks) {
    if (ranks == 1) return {0};
    return {0, ranks - 1};
}

}  // namespace

TEST_CASE("communicators conform, on one node and on several, by words and by messages") {
    const std::vector<const char*> plans{
        "turnstile", "turnstile/mcs", "central",   "mcs",         "tournament",        "dissemination",
        "pairwise",  "bst",           "butterfly", "combining:3", "fway_tournament:3", "central@2/dissemination:2"};
    for (const Rank ranks : {1U, 2U, 3U, 5U, 8U})
        for (const Rank per_node : {1U, 2U, 3U, 8U})
            for (const char* plan : plans) {
                if (TOLLBAR_SANITIZED && (ranks > 5 || (plan != plans[0] && plan != plans[5]))) continue;
                CAPTURE(ranks);
                CAPTURE(per_node);
                CAPTURE(plan);
                MpiHarness harness({.ranks = ranks, .per_node = per_node, .plan = plan});
                CHECK(complaints(harness, lates(ranks), {.episodes = 8, .late_every = 1, .mixed = true}) == none);
            }
}

TEST_CASE("ranks that may not share memory conform") {
    for (const char* plan : {"turnstile", "turnstile/dissemination", "mcs", "dissemination"}) {
        CAPTURE(plan);
        MpiHarness harness({.ranks = 5, .per_node = 5, .plan = plan, .sharing = TOLLBAR_SHARING_NEVER});
        CHECK(complaints(harness, lates(5), {.episodes = 8, .late_every = 1, .mixed = true}) == none);
    }
}

TEST_CASE("ranks that have met nobody conform, whatever plan is asked for") {
    for (const Rank ranks : {1U, 2U, 3U, 5U, 8U}) {
        CAPTURE(ranks);
        MpiHarness harness({.ranks = ranks, .per_node = ranks, .plan = "turnstile", .meets = false});
        CHECK(complaints(harness, lates(ranks), {.episodes = 8, .late_every = 1, .mixed = true}) == none);
    }
}

TEST_CASE("ranks that have had episodes by messages may meet") {
    constexpr Rank ranks = 3;
    const Case before{.ranks = ranks, .per_node = 1, .plan = nullptr, .meets = false};
    const Case after{.ranks = ranks, .per_node = 1, .plan = "dissemination"};
    LocalWorld world(ranks);
    std::atomic<Rank> begun{0};
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            for (Rank round = 1; round <= 20; ++round) {
                for (const Case& c : {before, after}) {
                    MpiMember member(world, c, rank);
                    for (Rank queued = 0; queued < 3; ++queued) member.arrive();
                    member.wait();
                    begun.fetch_add(1, std::memory_order_relaxed);
                    member.arrive_and_wait();
                    CHECK(begun.load(std::memory_order_relaxed) >= ranks * (2 * round - (c.meets ? 0 : 1)));
                }
            }
        });
    for (std::thread& thread : threads) thread.join();
}

TEST_CASE("nobody has joined before everybody has begun to: joining is a barrier") {
    constexpr Rank ranks = 4;
    for (const Rank per_node : {4U, 2U, 1U})
        for (Rank late = 0; late < ranks; ++late) {
            const Case c{.ranks = ranks, .per_node = per_node, .plan = "turnstile"};
            LocalWorld world(ranks);
            std::atomic<Rank> begun{0};
            std::vector<std::thread> threads;
            for (Rank rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
                    begun.fetch_add(1, std::memory_order_relaxed);
                    const MpiMember member(world, c, rank);
                    CHECK(begun.load(std::memory_order_relaxed) == ranks);
                });
            for (std::thread& thread : threads) thread.join();
        }
}

TEST_CASE("episodes that are entered before earlier ones are over end in order") {
    for (const Rank per_node : {4U, 2U, 1U})
        each({.ranks = 4, .per_node = per_node, .plan = "turnstile"}, [](MpiMember& member, Rank rank) {
            tollbar_mpi_participant* self = member.get();
            for (std::uint64_t round = 0; round < 50; ++round) {
                for (std::uint64_t i = 1; i <= 4; ++i) CHECK(tollbar_mpi_arrive(self, nullptr) == 4 * round + i);
                if (rank % 2 == 0) {
                    tollbar_mpi_wait(self, 4 * round + 4);
                    CHECK(tollbar_mpi_test(self, 4 * round + 1) != 0);
                } else {
                    for (std::uint64_t i = 1; i <= 4; ++i) tollbar_mpi_wait(self, 4 * round + i);
                }
            }
        });
}

TEST_CASE("a blocking episode comes after those that are queued") {
    each({.ranks = 3, .per_node = 3, .plan = "dissemination"}, [](MpiMember& member, Rank) {
        for (std::uint64_t round = 0; round < 50; ++round) {
            const std::uint64_t queued = tollbar_mpi_arrive(member.get(), nullptr);
            tollbar_mpi_arrive_and_wait(member.get(), nullptr);
            CHECK(tollbar_mpi_test(member.get(), queued) != 0);
        }
    });
}

TEST_CASE("an episode under way may be abandoned") {
    for (const Rank per_node : {3U, 1U})
        for (const char* plan : {"turnstile", "dissemination"})
            each({.ranks = 3, .per_node = per_node, .plan = plan}, [](MpiMember& member, Rank rank) {
                tollbar_mpi_arrive_and_wait(member.get(), nullptr);
                if (rank != 1) tollbar_mpi_arrive(member.get(), nullptr);
            });
}

TEST_CASE("only a word that all ranks share needs no calls") {
    const auto needs_none = [](const Case& c) {
        std::atomic<Rank> needs{0};
        each(c, [&](MpiMember& member, Rank) { needs += tollbar_mpi_needs_no_calls(member.get()) != 0 ? 1 : 0; });
        CHECK((needs == 0 || needs == c.ranks));  // all say the same
        return needs == c.ranks;
    };
    CHECK(needs_none({.ranks = 3, .per_node = 3, .plan = "turnstile"}));
    CHECK_FALSE(needs_none({.ranks = 3, .per_node = 3, .plan = "dissemination"}));
    CHECK_FALSE(needs_none({.ranks = 4, .per_node = 2, .plan = "turnstile"}));
    CHECK_FALSE(needs_none({.ranks = 7, .per_node = 7, .plan = "turnstile@4/mcs"}));
    CHECK_FALSE(needs_none({.ranks = 5, .per_node = 5, .plan = "combination:2"}));
    CHECK_FALSE(needs_none({.ranks = 3, .per_node = 3, .plan = "turnstile", .sharing = TOLLBAR_SHARING_NEVER}));
}

TEST_CASE("where one rank gets no channel, all decline alike, whichever channel it is") {
    constexpr Rank ranks = 4;
    for (const char* plan : {"dissemination", "turnstile/mcs", ""})
        for (Rank refused = 0; refused < ranks; ++refused)
            for (int had = 0;; ++had) {
                LocalWorld world(ranks);
                std::vector<int> results(ranks);
                std::vector<std::thread> threads;
                for (Rank rank = 0; rank < ranks; ++rank)
                    threads.emplace_back([&, rank] {
                        LocalWorld::Seat seat{.world = &world, .rank = rank, .channels = rank == refused ? had : -1};
                        const std::string host = "node" + std::to_string(rank / 2);
                        const tollbar_p2p p2p = world.p2p(seat);
                        tollbar_mpi_options options{};
                        options.plan = plan;
                        options.host = host.c_str();
                        tollbar_mpi_participant* self = nullptr;
                        results[rank] = tollbar_mpi_join(&p2p, &options, &self);
                        if (self != nullptr) tollbar_mpi_leave(self);
                    });
                for (std::thread& thread : threads) thread.join();
                CHECK(std::ranges::all_of(results, [&](int result) { return result == results[0]; }));
                CHECK(results[0] != EIO);
                if (results[0] == 0) break;  // it needs no more
            }
}

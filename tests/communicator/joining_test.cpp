// SPDX-License-Identifier: Apache-2.0
// Ranks of one thread meet in pieces: whatever waits for another rank would wait for ever.
#include "communicator/participant.h"

#include "local_p2p.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

using namespace tollbar::testing;

namespace {

/// Ranks of a communicator, so many on a node, which join with that plan.
class Joining {
public:
    Joining(std::uint32_t ranks, std::uint32_t per_node, const char* plan)
        : world_(ranks), seats_(ranks), parts_(ranks), failed_(ranks, -1), participants_(ranks) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            seats_[rank] = {.world = &world_, .rank = rank};
            hosts_.push_back("node" + std::to_string(rank / per_node));
        }
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const tollbar_p2p p2p = world_.p2p(seats_[rank]);
            tollbar_mpi_options options{};
            options.plan = plan;
            options.host = hosts_[rank].c_str();
            options.budget_ms = -1;
            REQUIRE(tollbar_mpi_begin_to_join(&p2p, &options, &parts_[rank]) == 0);
        }
    }
    ~Joining() {
        for (tollbar_mpi_participant* each : participants_) tollbar_mpi_leave(each);
    }
    Joining(const Joining&) = delete;
    Joining& operator=(const Joining&) = delete;

    bool goes_on(std::uint32_t rank, tollbar_patience patience = TOLLBAR_NEVER_BLOCKS) {
        if (parts_[rank] == nullptr) return false;
        if (tollbar_mpi_go_on_joining(parts_[rank], patience, &failed_[rank], &participants_[rank]) != 0)
            parts_[rank] = nullptr;
        return parts_[rank] != nullptr;
    }

    /// All ranks but one, until none has anything to do that takes less than so many calls.
    void go_on(std::uint32_t without) {
        for (int call = 0; call < 1000; ++call)
            for (std::uint32_t rank = 0; rank < parts_.size(); ++rank)
                if (rank != without) goes_on(rank);
    }

    /// Results of each rank; -1: it has not met.
    const std::vector<int>& failed() const { return failed_; }
    tollbar_mpi_participant* participant(std::uint32_t rank) const { return participants_[rank]; }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(seats_.size()); }

private:
    LocalWorld world_;
    std::vector<LocalWorld::Seat> seats_;
    std::vector<std::string> hosts_;
    std::vector<tollbar_mpi_joining*> parts_;
    std::vector<int> failed_;
    std::vector<tollbar_mpi_participant*> participants_;
};

constexpr std::uint32_t nobody = ~0U;

}  // namespace

TEST_CASE("nobody has joined before everybody has begun to, and nobody waits for it") {
    for (const std::uint32_t ranks : {2U, 3U, 5U, 8U})
        for (const std::uint32_t per_node : {1U, 2U, 8U})
            for (const char* plan : {"turnstile", "turnstile/dissemination", "dissemination", "mcs"}) {
                for (std::uint32_t late = 0; late < ranks; ++late) {
                    CAPTURE(ranks);
                    CAPTURE(per_node);
                    CAPTURE(plan);
                    CAPTURE(late);
                    Joining all(ranks, per_node, plan);
                    all.go_on(late);
                    CHECK(all.failed() == std::vector<int>(ranks, -1));
                    all.go_on(nobody);
                    CHECK(all.failed() == std::vector<int>(ranks, 0));
                    for (std::uint32_t rank = 0; rank < ranks; ++rank)
                        tollbar_mpi_arrive(all.participant(rank), nullptr);
                    for (int call = 0; call < 100; ++call)
                        for (std::uint32_t rank = 0; rank < ranks; ++rank) tollbar_mpi_test(all.participant(rank), 1);
                    for (std::uint32_t rank = 0; rank < ranks; ++rank)
                        CHECK(tollbar_mpi_test(all.participant(rank), 1) != 0);
                }
            }
}

TEST_CASE("without a stored plan a node takes the model's choice, and nodes want a call that may block") {
    Joining together(4, 4, "");
    together.go_on(nobody);
    CHECK(together.failed() == std::vector<int>(4, 0));
    CHECK(std::string(tollbar_mpi_plan(together.participant(0))) == "turnstile");
    Joining apart(4, 2, "");
    apart.go_on(nobody);
    CHECK(apart.failed() == std::vector<int>(4, EAGAIN));
}

TEST_CASE("whoever may block in the end does, until it is over") {
    Joining all(3, 3, "turnstile");
    all.go_on(2);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < 3; ++rank)
        threads.emplace_back([&all, rank] { CHECK_FALSE(all.goes_on(rank, TOLLBAR_BLOCKS)); });
    for (std::thread& thread : threads) thread.join();
    CHECK(all.failed() == std::vector<int>(3, 0));
}

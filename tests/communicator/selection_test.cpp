// SPDX-License-Identifier: Apache-2.0
// Choosing a plan is collective: every rank runs the same trials equally often and gets the same answer, which is
// stored once. Which plan wins is up to the machine, and no test's business.
#include "communicator/selection.hpp"
#include "communicator/spelling.hpp"
#include "communicator/team.hpp"
#include "base/environment.hpp"

#include "local_p2p.hpp"
#include "temporary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

using namespace tollbar;
using namespace tollbar::detail;
using namespace tollbar::detail::mpi;

namespace {

/// An empty tuning file for what follows in this process.
void forget_choices() {
    static const testing::TemporaryFolder folder;
    setenv("TOLLBAR_TUNING", folder.write("tuning", "tollbar-tuning 1\n").c_str(), 1);
}

std::size_t lines_stored() {
    std::ifstream file(environment::tuning_file());
    return read_mpi_tuning(file).size();
}

/// Runs that on every rank, each with a thread and point-to-point calls of its own.
void on_ranks(Rank ranks, const std::function<void(const tollbar_p2p&)>& action) {
    testing::LocalWorld world(ranks);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            testing::LocalWorld::Seat seat{.world = &world, .rank = rank};
            action(world.p2p(seat));
        });
    for (std::thread& thread : threads) thread.join();
}

Selection selection(Rank ranks, Rank nodes, double budget_ms, const char* objective = "latency") {
    return {.situation = {.ranks = ranks,
                          .nodes = nodes,
                          .per_node = ranks / nodes,
                          .crowded = true,
                          .mpi = "any",
                          .objective = objective},
            .budget_ms = budget_ms,
            .far = nodes == 1 ? 0 : ranks - 1};
}

/// What one rank has seen of a choice.
struct Seen {
    std::string plan;
    std::map<std::string, std::uint64_t> episodes;

    friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> choose(Rank ranks, const Selection& selection) {
    std::vector<Seen> seen(ranks);
    on_ranks(ranks, [&](const tollbar_p2p& p2p) {
        Seen& mine = seen[p2p.rank];
        const bool many_nodes = selection.situation.nodes > 1;
        tollbar_mpi_options options{};
        options.sharing = many_nodes ? TOLLBAR_SHARING_NEVER : TOLLBAR_SHARING_AUTO;
        const tollbar_mpi_options all = completed(options);
        const SetUp set_up(p2p, "test", 0);
        const Meeting meeting = meet(set_up, all);
        const auto reports = std::make_shared<Reports>(p2p, all, meeting);
        std::uint8_t number = 1;
        const MakeTrial make = [&](const std::string& spelling) {
            auto team = std::make_shared<Team>(set_up, meeting, reports, spelling, number++);
            return [team, &episodes = mine.episodes[spelling]] {
                team->arrive_and_wait(nullptr);
                ++episodes;
            };
        };
        mine.plan = choose_plan(set_up, selection, make);
    });
    return seen;
}

bool all_alike(const std::vector<Seen>& seen) {
    return std::ranges::all_of(seen, [&](const Seen& one) { return one == seen.front(); });
}

}  // namespace

TEST_CASE("all ranks of a node try the same and take the same, which is stored once") {
    for (const Rank ranks : {2u, 3u, 5u}) {
        forget_choices();
        const auto seen = choose(ranks, selection(ranks, 1, 5));
        CHECK(all_alike(seen));
        CHECK(seen.front().episodes.size() >= 3);
        CHECK(seen.front().episodes.size() <= 5);
        CHECK(seen.front().episodes.contains(seen.front().plan));
        CHECK(lines_stored() == 1);
    }
}

TEST_CASE("all ranks of several nodes do, whatever counts") {
    for (const char* objective : {"latency", "skew", "wait"}) {
        forget_choices();
        const auto seen = choose(4, selection(4, 4, 5, objective));
        CHECK(all_alike(seen));
        CHECK(fault_of_spelling(seen.front().plan, {{0}, {1}, {2}, {3}}).empty());
        CHECK(lines_stored() == 1);
    }
}

TEST_CASE("a large budget lets every candidate run") {
    forget_choices();
    const auto seen = choose(4, selection(4, 1, 250));
    const auto candidates = mpi_candidates(selection(4, 1, 250).situation, default_mpi_transports);
    CHECK(all_alike(seen));
    CHECK(seen.front().episodes.size() == candidates.size());
}

TEST_CASE("without a budget the model's choice is taken, and nothing is tried or stored") {
    forget_choices();
    const auto seen = choose(3, selection(3, 1, 0));
    CHECK(all_alike(seen));
    CHECK(seen.front().plan == "turnstile");
    CHECK(seen.front().episodes.empty());
    CHECK(lines_stored() == 0);
}

TEST_CASE("what messages cost is a finite time, known to every rank") {
    std::mutex mutex;
    std::vector<LogP> found;
    on_ranks(4, [&](const tollbar_p2p& p2p) {
        const LogP mine = measure_messages(SetUp(p2p, "test", 0), 2);
        const std::lock_guard lock(mutex);
        found.push_back(mine);
    });
    for (const LogP& one : found) {
        CHECK(one.L > 0);
        CHECK(one.o >= 0);
        CHECK(one.L < 1e6);
        CHECK(one.L == found.front().L);
        CHECK(one.o == found.front().o);
    }
}

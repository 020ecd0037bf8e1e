// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-threads: every barrier between the threads of one process, side by side.
#include "candidates.hpp"

namespace tollbar::bench {

namespace {

int measure(Launch& launch) {
    const Rank ranks = launch.options.ranks;
    Roster roster;
    if (launch.options.turns_ns != 0) {
        add_beside_neighbours(roster, launch);
    } else {
        add_tollbar(roster, ranks);
        add_standard_peers(roster, ranks);
        add_boost(roster, ranks);
        add_concurrency_kit(roster, ranks);
        for (const auto add : FurtherBarriers::all()) add(roster, launch);
        add_loaded(roster, ranks);
    }
    if (!launch.keeps(roster, plans_for(ranks))) return 0;
    launch.begin(roster.versions);
    ThreadCrew crew(ranks, launch.places());
    return measure_roster(launch, crew, roster);
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run({.name = "tollbar-bench-threads", .measure = measure}, count, words);
}

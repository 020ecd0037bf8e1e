// SPDX-License-Identifier: Apache-2.0
// tollbar-bench-threads: every barrier between the threads of one process, side by side.
#include "rounds.hpp"
#include "selection.hpp"

namespace tollbar::bench {

namespace {

Roster prepare(const Options& options) {
    Roster roster;
    add_tollbar(roster, options.ranks);
    add_standard_peers(roster, options.ranks);
    add_boost(roster, options.ranks);
    add_concurrency_kit(roster, options.ranks);
    if (!options.only.empty())
        select(roster, options.only, [&](Roster& to, const std::string& name, const std::string& wait) {
            return add_if_a_plan(to, options.ranks, name, wait);
        });
    return roster;
}

}  // namespace

}  // namespace tollbar::bench

int main(int count, char** words) {
    using namespace tollbar::bench;
    return run_program("tollbar-bench-threads", count, words, prepare,
                       [](const Options& options, const Places& places) {
                           return std::make_unique<ThreadCrew>(options.ranks, places);
                       });
}

// SPDX-License-Identifier: Apache-2.0
// Takes the place of candidates_ck.cpp where libck was not found.
#include "candidates.hpp"

namespace tollbar::bench {

void add_concurrency_kit(Roster& roster, Rank) {
    for (const char* name : {"ck_centralized", "ck_combining", "ck_dissemination", "ck_tournament", "ck_mcs"})
        roster.skipped.push_back({name, "Concurrency Kit (libck) was not found when this program was built"});
}

}  // namespace tollbar::bench

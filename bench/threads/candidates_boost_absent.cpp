// SPDX-License-Identifier: Apache-2.0
// Takes the place of candidates_boost.cpp where Boost.Thread was not found.
#include "candidates.hpp"

namespace tollbar::bench {

void add_boost(Roster& roster, Rank) {
    roster.skipped.push_back({"boost::barrier", "Boost.Thread was not found when this program was built"});
}

}  // namespace tollbar::bench

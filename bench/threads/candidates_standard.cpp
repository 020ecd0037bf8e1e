// SPDX-License-Identifier: Apache-2.0
// What every user has today: std::barrier and pthread_barrier.
#include "barriers.hpp"
#include "candidate.hpp"

#include <gnu/libc-version.h>

namespace tollbar::bench {

void add_standard_peers(Roster& roster, Rank ranks) {
    roster.add<Everywhere<StandardBarrier>>({"std::barrier", "peer"}, ranks);
    roster.add<Everywhere<PthreadBarrier>>({"pthread_barrier", "peer"}, ranks);
    roster.versions.emplace_back("glibc", gnu_get_libc_version());
    roster.versions.emplace_back("libstdc++", std::to_string(__GLIBCXX__));
}

}  // namespace tollbar::bench

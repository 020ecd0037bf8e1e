// SPDX-License-Identifier: Apache-2.0
// boost::barrier, where Boost.Thread is installed.
#include "candidates.hpp"

#include <boost/thread/barrier.hpp>
#include <boost/version.hpp>

namespace tollbar::bench {

namespace {

struct BoostBarrier {
    explicit BoostBarrier(Rank ranks) : barrier(ranks) {}
    void episode() { barrier.wait(); }

    boost::barrier barrier;
};

}  // namespace

void add_boost(Roster& roster, Rank ranks) {
    roster.add<Everywhere<BoostBarrier>>({"boost::barrier", "peer"}, ranks);
    roster.versions.push_back({"boost", BOOST_LIB_VERSION});
}

}  // namespace tollbar::bench

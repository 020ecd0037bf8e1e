// SPDX-License-Identifier: Apache-2.0
// Parameters beyond L, o and g: messages that carry something, and ranks that handle many. Both become L, o
// and g again, so that whatever is priced by those is priced by these.
#include <tollbar/models/logp.hpp>

#include "analysis/checks.hpp"

#include <algorithm>

namespace tollbar {

using namespace detail;

LogP with_payload(const LogP& logp, double G, std::uint64_t bytes) {
    check_times(logp);
    check_time(G, "G");
    const double further_us = static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1) * G;
    const LogP found{.L = logp.L + further_us, .o = logp.o, .g = logp.g + further_us, .o_r = logp.o_r};
    check_times(found);
    return found;
}

LogP with_occupancy(const LogP& logp, double occupancy_us) {
    check_times(logp);
    check_time(occupancy_us, "the occupancy");
    return {.L = logp.path_us(), .o = 0, .g = occupancy_us};
}

}  // namespace tollbar

// SPDX-License-Identifier: Apache-2.0
// Refuses times that make no sense.
#include "checks.hpp"

#include "analysis/checks.hpp"

#include <cmath>
#include <stdexcept>

namespace tollbar::models {

using namespace detail;

void check_time(double us, const std::string& what, double least_us) {
    if (!std::isfinite(us) || us < least_us || us > 1e12)  // eleven days in one piece; sums of thousands still fit
        throw std::invalid_argument(what + " is a time from " + shortest(least_us) + " to 1e12 us, not " +
                                    shortest(us));
}

}  // namespace tollbar::models

// SPDX-License-Identifier: Apache-2.0
// The part of a long search that runs: all of it, unless SEARCH_FACTOR says another multiple, as `make test`
// does.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace tollbar::testing {

inline double effort() {
    static const char* const factor = std::getenv("SEARCH_FACTOR");
    return factor == nullptr ? 1 : std::max(0.01, std::strtod(factor, nullptr));
}

}  // namespace tollbar::testing

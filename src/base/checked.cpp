// SPDX-License-Identifier: Apache-2.0
#include <tollbar/detail/checked.hpp>

#include "say.h"

#include <cstdlib>

namespace tollbar::detail {

void refuse_expected(std::int64_t expected, std::int64_t most) noexcept {
    tollbar_say("barrier: expects %lld arrivals a phase, where 0 to %lld are possible",
                static_cast<long long>(expected), static_cast<long long>(most));
    std::abort();
}

void refuse_arrivals(std::int64_t times, std::int64_t room) noexcept {
    tollbar_say("barrier: arrive(%lld) where the phase expects %lld more", static_cast<long long>(times),
                static_cast<long long>(room));
    std::abort();
}

}  // namespace tollbar::detail

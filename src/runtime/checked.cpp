// SPDX-License-Identifier: Apache-2.0
#include <tollbar/detail/checked.hpp>

#include "say.h"

#include <cstdlib>

namespace tollbar {

void refuse_arrivals(std::int64_t times, std::int64_t room) noexcept {
    tollbar_say("barrier: arrive(%lld) where the phase expects %lld more", static_cast<long long>(times),
                static_cast<long long>(room));
    std::abort();
}

}  // namespace tollbar

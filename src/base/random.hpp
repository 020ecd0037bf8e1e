// SPDX-License-Identifier: Apache-2.0
// Numbers that nobody can guess.
#pragma once

#include "files.hpp"

#include <cstdint>

#include <sys/random.h>

namespace tollbar::detail {

/// Never 0. Throws std::system_error where the kernel has none.
inline std::uint64_t random_number() {
    std::uint64_t number = 0;
    while (number == 0)
        if (getrandom(&number, sizeof number, 0) != sizeof number) throw_errno("random numbers");
    return number;
}

}  // namespace tollbar::detail

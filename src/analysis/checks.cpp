// SPDX-License-Identifier: Apache-2.0
// What every price refuses.
#include "checks.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tollbar {

void check_time(double time_us, const std::string& name) {
    if (std::isfinite(time_us) && time_us >= 0) return;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), time_us).ptr;
    throw std::invalid_argument(name + " is a finite time of at least 0 us, not " + std::string(digits.data(), end));
}

void check_times(const LogP& logp) {
    check_time(logp.L, "L");
    check_time(logp.o, "o");
    check_time(logp.g, "g");
}

}  // namespace tollbar

// SPDX-License-Identifier: Apache-2.0
// The arguments that every price refuses.
#include "checks.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace tollbar::detail {

std::string shortest(double number) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

void check_time(double time_us, const std::string& name) {
    if (!std::isfinite(time_us) || time_us < 0)
        throw std::invalid_argument(name + " is a finite time of at least 0 us, not " + shortest(time_us));
}

void check_times(const LogP& logp) {
    check_time(logp.L, "L");
    check_time(logp.o, "o");
    check_time(logp.g, "g");
    if (logp.o_r) check_time(*logp.o_r, "o_r");
}

}  // namespace tollbar::detail

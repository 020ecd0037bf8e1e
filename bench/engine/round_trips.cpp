// SPDX-License-Identifier: Apache-2.0
// How many turns of an empty loop make a delay.
#include "round_trips.hpp"

namespace tollbar::bench {

void Delay::operator()() const noexcept {
    for (std::uint64_t i = 0; i < turns_; ++i) asm volatile("" : "+r"(i));
}

void Delay::lengthen_to(double nanoseconds) noexcept {
    constexpr std::uint64_t many = 100'000;
    turns_ = many;
    double shortest_ns = 0;
    for (int i = 0; i < 5; ++i) {
        const Ticks start = ticks();
        (*this)();
        const double taken_ns = bench::nanoseconds(ticks() - start);
        shortest_ns = i == 0 ? taken_ns : std::min(shortest_ns, taken_ns);
    }
    turns_ = static_cast<std::uint64_t>(nanoseconds / shortest_ns * many) + 1;
}

}  // namespace tollbar::bench

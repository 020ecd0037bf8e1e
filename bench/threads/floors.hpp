// SPDX-License-Identifier: Apache-2.0
// What the machine cannot do faster: one cache-line transfer, one exchange, one switch by sched_yield.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::bench {

/// All in nanoseconds. Those between two CPUs are empty when only one is usable.
struct Floors {
    std::optional<double> one_way_pause;  ///< one word bounced, the waiting side pausing
    std::optional<double> one_way_tight;  ///< the same without pause
    std::optional<double> exchange;       ///< each side writes its own line and reads the other's
    double yield_switch_4 = 0;            ///< a ring of 4 threads on one CPU, a switch
    double yield_switch_8 = 0;            ///< the same with 8

    /// The better variant counts: a floor is what is possible.
    std::optional<double> one_way() const;
    double yield_switch() const;
};

/// Measures all of them with short-lived threads on the first two of `cpus`; takes about 10 ms on a quiet machine.
/// The caller's other threads must be asleep.
Floors measure_floors(const std::vector<int>& cpus);

/// Prints them as a round's record.
void print_floors(const Floors& floors, std::uint32_t round);

}  // namespace tollbar::bench

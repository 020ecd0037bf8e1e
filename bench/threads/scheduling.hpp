// SPDX-License-Identifier: Apache-2.0
// What the scheduler simulator must know of this machine: the quantum, and a switch to a thread that sleeps.
#pragma once

#include <cstdint>
#include <vector>

namespace tollbar::bench {

/// All in nanoseconds.
struct Scheduling {
    std::vector<double> quanta;  ///< stretches that a thread had its CPU while three others wanted it
    double sleep_switch = 0;     ///< from a thread to one on the same CPU that it wakes before it sleeps itself
};

/// Measures with short-lived threads on that CPU; takes about 150 ms on a quiet machine. The caller's other threads
/// must be asleep.
Scheduling measure_scheduling(int cpu);

/// Prints it as a round's record.
void print_scheduling(const Scheduling& scheduling, std::uint32_t round);

}  // namespace tollbar::bench

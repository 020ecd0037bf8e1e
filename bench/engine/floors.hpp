// SPDX-License-Identifier: Apache-2.0
// The least times of the machine: one cache-line transfer, one exchange, one switch; and how long a quantum is.
// Everything is measured with short-lived threads or processes, in nanoseconds. The caller's other threads must be
// asleep.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tollbar::bench {

/// Times between two CPUs are empty when only one is usable.
struct Floors {
    std::optional<double> one_way_pause;  ///< one word bounced, the waiting side pausing
    std::optional<double> one_way_tight;  ///< the same without pause
    std::optional<double> exchange;       ///< each side writes its own line and reads the other's
    double yield_switch_4 = 0;            ///< a ring of 4 members on one CPU, a switch
    double yield_switch_8 = 0;            ///< the same with 8

    /// The better variant counts: a floor is what is possible.
    std::optional<double> one_way() const;
    double yield_switch() const;
};

/// The members between which a switch is measured: those of the barrier.
enum class Among : std::uint8_t { threads, processes };

/// On the first two of `cpus`; takes about 10 ms on a quiet machine. Throws std::system_error, or std::runtime_error
/// where no process can be forked.
Floors measure_floors(const std::vector<int>& cpus, Among among);

/// Prints them as a round's record.
void print_floors(const Floors& floors, std::uint32_t round);

/// The facts of this machine that the scheduler simulator must know.
struct Scheduling {
    std::vector<double> quanta;  ///< stretches that a thread had its CPU while three others wanted it
    double sleep_switch = 0;     ///< from a thread to one on the same CPU that it wakes before it sleeps itself
};

/// On that CPU; takes about 150 ms on a quiet machine.
Scheduling measure_scheduling(int cpu);

/// Prints it as a round's record.
void print_scheduling(const Scheduling& scheduling, std::uint32_t round);

}  // namespace tollbar::bench

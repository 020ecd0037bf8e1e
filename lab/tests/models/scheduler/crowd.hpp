// SPDX-License-Identifier: Apache-2.0
// The programs and machines of Markatos et al. 1991, for tests of the scheduler simulator.
#pragma once

#include <tollbar/models/scheduler.hpp>

#include <string>

namespace crowd {

using namespace tollbar::scheduler;

inline constexpr double quantum_us = 20000, switch_us = 100;

/// 16 threads that wait by yielding.
inline Application blocking(const std::string& barrier, double compute_us, Placement placement = Placement::cyclic,
                            Waiting waiting = Waiting::smart) {
    Application application;
    application.compute_us = compute_us;
    application.barrier = barrier;
    application.waiting = waiting;
    application.placement = placement;
    return application;
}

/// 16 threads that spin; their paper gives switches no cost then.
inline Application spinning(const std::string& barrier, double compute_us, std::uint64_t barriers = 500) {
    Application application;
    application.compute_us = compute_us;
    application.barrier = barrier;
    application.barriers = barriers;
    return application;
}

inline Machine machine(std::uint32_t processors, double cost_us = switch_us) {
    Machine machine;
    machine.processors = processors;
    machine.quantum_us = quantum_us;
    machine.switch_us = cost_us;
    return machine;
}

inline Machine free_switches(std::uint32_t processors) { return machine(processors, 0); }

inline double per_barrier_us(const Machine& on, const Application& application) {
    return simulate(on, {application}).applications.at(0).per_barrier_us();
}

}  // namespace crowd

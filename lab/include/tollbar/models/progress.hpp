// SPDX-License-Identifier: Apache-2.0
// The progress of a simulation, for whoever watches it.
#pragma once

#include <tollbar/detail/language.hpp>

#include <cstdint>
#include <functional>

#pragma GCC visibility push(default)
namespace tollbar {

/// How far a simulation has come.
struct Progress {
    double simulated_us;   ///< on the clock of the simulated machine
    std::uint64_t passed;  ///< passages of a barrier
    std::uint64_t total;   ///< passages when it is done
};

/// Called now and then; it may throw, and that ends the simulation.
using Watch = std::function<void(const Progress&)>;

/// The number of events between two calls of a watch.
inline constexpr std::uint64_t events_between_looks = 1u << 16;

}  // namespace tollbar
#pragma GCC visibility pop

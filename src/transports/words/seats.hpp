// SPDX-License-Identifier: Apache-2.0
// Which rank of a group has which place in its plan, where the plan's groups stand for clusters of cores.
#pragma once

#include <tollbar/plan.hpp>
#include <tollbar/detail/clusters.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace tollbar {

/// How the seats of a plan, which are its ranks, fall into groups.
struct Seating {
    Rank groups = 0;      ///< 0: rank r has seat r
    Rank neighbours = 0;  ///< a group has so many seats that follow each other; 0: seat s is in group s mod `groups`

    Rank group_of(Rank seat) const noexcept { return neighbours == 0 ? seat % groups : seat / neighbours; }
};

/// Zero where nobody sits, or a group stands for no cluster yet; else one more than the number.
struct Seat {
    std::atomic<Rank> rank{0};
    std::atomic<std::uint32_t> cluster{0};  ///< of the group with this seat's number
};

/// The seat that the rank has, or takes for good: in a group that stands for its cluster; else in one that stands for
/// none yet, so that clusters side by side have groups side by side; else anywhere. There are as many seats as ranks,
/// and the caller holds the rank.
/// Memory order: none; who holds a rank later has it from the one that held it before.
Rank take_seat(std::span<Seat> seats, const Seating& seating, Rank rank, std::uint32_t cluster,
               const Clusters& usable) noexcept;

}  // namespace tollbar

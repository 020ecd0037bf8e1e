// SPDX-License-Identifier: Apache-2.0
// The rank of its plan that each rank of a group runs, where the plan's groups stand for clusters of cores.
#pragma once

#include "waiting/clusters.hpp"

#include <tollbar/plan.hpp>

#include <atomic>
#include <cstdint>
#include <span>

namespace tollbar::detail {

/// How the slots of a plan, which are its ranks, fall into groups.
struct SlotGroups {
    Rank groups = 0;      ///< 0: rank r has slot r
    Rank neighbours = 0;  ///< slots of a group, which follow each other; 0: slot s is in group s mod `groups`

    Rank group_of(Rank slot) const noexcept { return neighbours == 0 ? slot % groups : slot / neighbours; }
};

/// Both numbers are one more than what they name; 0 says that no rank has the slot, or that the group stands for no
/// cluster yet.
struct Slot {
    std::atomic<Rank> rank{0};
    std::atomic<std::uint32_t> cluster{0};  ///< of the group with this slot's number
};

/// The slot that the rank has, or takes for good: in a group that stands for its cluster; else in one that stands for
/// none yet, so that clusters side by side have groups side by side; else anywhere. There are as many slots as ranks,
/// and the caller holds the rank.
/// Memory order: none; a later holder of a rank has the rank from the holder before.
Rank take_slot(std::span<Slot> slots, const SlotGroups& slot_groups, Rank rank, std::uint32_t cluster,
               const Clusters& usable) noexcept;

}  // namespace tollbar::detail

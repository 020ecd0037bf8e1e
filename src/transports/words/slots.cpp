// SPDX-License-Identifier: Apache-2.0
// A rank looks for a slot among neighbours; the first rank of a cluster that comes to a group makes it the cluster's.
#include "slots.hpp"

#include <algorithm>
#include <cstdlib>

namespace tollbar::detail {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Whether the value is what is wanted, or was zero and is that now.
template <class T>
bool claim(std::atomic<T>& value, T wanted) noexcept {
    T found = 0;
    return value.compare_exchange_strong(found, wanted, relaxed) || found == wanted;
}

}  // namespace

Rank take_slot(std::span<Slot> slots, const SlotGroups& slot_groups, Rank rank, std::uint32_t cluster,
               const Clusters& usable) noexcept {
    const auto count = static_cast<Rank>(slots.size());
    for (Rank slot = 0; slot < count; ++slot)
        if (slots[slot].rank.load(relaxed) == rank + 1) return slot;

    const auto before = std::ranges::lower_bound(usable.all, cluster, {}, &Cluster::number) - usable.all.begin();
    const auto first = static_cast<std::uint64_t>(before) * slot_groups.groups /
                       std::max<std::size_t>(usable.all.size(), 1);
    enum class Where : std::uint8_t { with_neighbours, in_a_new_group, anywhere };
    for (const Where where : {Where::with_neighbours, Where::in_a_new_group, Where::anywhere})
        for (Rank i = 0; i < slot_groups.groups; ++i) {
            const Rank group = static_cast<Rank>((first + i) % slot_groups.groups);
            auto& stands_for = slots[group].cluster;
            if (where == Where::with_neighbours && stands_for.load(relaxed) != cluster + 1) continue;
            if (where == Where::in_a_new_group && !claim(stands_for, cluster + 1)) continue;
            for (Rank slot = 0; slot < count; ++slot)
                if (slot_groups.group_of(slot) == group && claim(slots[slot].rank, rank + 1)) return slot;
        }
    std::abort();  // more ranks than slots
}

}  // namespace tollbar::detail

// SPDX-License-Identifier: Apache-2.0
// Looks for a seat among neighbours; the first rank of a cluster that comes to a group makes it the cluster's.
#include "seats.hpp"

#include <algorithm>
#include <cstdlib>

namespace tollbar {

namespace {

constexpr auto relaxed = std::memory_order_relaxed;

/// Whether the value is what is wanted, or was zero and is that now.
template <class T>
bool claim(std::atomic<T>& value, T wanted) noexcept {
    T found = 0;
    return value.compare_exchange_strong(found, wanted, relaxed) || found == wanted;
}

}  // namespace

Rank take_seat(std::span<Seat> seats, const Seating& seating, Rank rank, std::uint32_t cluster,
               const Clusters& usable) noexcept {
    const auto count = static_cast<Rank>(seats.size());
    for (Rank seat = 0; seat < count; ++seat)
        if (seats[seat].rank.load(relaxed) == rank + 1) return seat;

    const auto before = std::ranges::lower_bound(usable.all, cluster, {}, &Cluster::number) - usable.all.begin();
    const auto first = static_cast<std::uint64_t>(before) * seating.groups /
                       std::max<std::size_t>(usable.all.size(), 1);
    enum class Where : std::uint8_t { with_neighbours, in_a_new_group, anywhere };
    for (const Where where : {Where::with_neighbours, Where::in_a_new_group, Where::anywhere})
        for (Rank i = 0; i < seating.groups; ++i) {
            const Rank group = static_cast<Rank>((first + i) % seating.groups);
            auto& stands_for = seats[group].cluster;
            if (where == Where::with_neighbours && stands_for.load(relaxed) != cluster + 1) continue;
            if (where == Where::in_a_new_group && !claim(stands_for, cluster + 1)) continue;
            for (Rank seat = 0; seat < count; ++seat)
                if (seating.group_of(seat) == group && claim(seats[seat].rank, rank + 1)) return seat;
        }
    std::abort();  // more ranks than seats
}

}  // namespace tollbar

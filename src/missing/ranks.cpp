// SPDX-License-Identifier: Apache-2.0
// A communicator whose identity is 0 is nobody's.
#include "ranks.hpp"

#include <algorithm>
#include <cstring>

namespace tollbar::detail::missing {

const tollbar_comm* Rank::comm(std::uint64_t index_plus_one) const {
    if (index_plus_one == 0 || index_plus_one > row.comms.size()) return nullptr;
    const tollbar_comm& found = row.comms[index_plus_one - 1];
    return found.id == 0 ? nullptr : &found;
}

const tollbar_comm* Rank::comm_of(std::uint64_t id) const {
    const auto found = std::ranges::find(row.comms, id, &tollbar_comm::id);
    return id == 0 || found == row.comms.end() ? nullptr : &*found;
}

std::uint64_t Rank::starts(std::uint64_t id, std::uint64_t number) const {
    const auto is_it = [&](const tollbar_started& one) { return one.id == id && one.number == number; };
    const auto found = std::ranges::find_if(row.started, is_it);
    return number == 0 || found == row.started.end() ? 0 : found->times;
}

const tollbar_seat& Rank::telling() const {
    const auto inside = std::ranges::find_if_not(row.seats, is_outside);
    return inside == row.seats.end() ? row.seats[0] : *inside;
}

const tollbar_counted* counted_at(const tollbar_comm& comm, std::uint64_t number) {
    const bool kept = number != 0 && number <= comm.count && comm.count < number + tollbar_kept;
    return kept ? &comm.last[number % tollbar_kept] : nullptr;
}

std::string name_of(const tollbar_comm& comm) {
    const std::string name(comm.name, strnlen(comm.name, sizeof comm.name));
    return name.empty() ? "a communicator without a name" : name;
}

}  // namespace tollbar::detail::missing

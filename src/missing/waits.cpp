// SPDX-License-Identifier: Apache-2.0
// The seat of a thread tells for what it waits.
#include "waits.hpp"

#include "counted.hpp"

#include <string_view>

namespace tollbar::detail::missing {

Wait wait_of(const Rank& rank, const tollbar_seat& seat, double seconds) {
    Wait wait{.rank = &rank, .seat = &seat, .seconds = seconds};
    const tollbar_comm* const last = rank.comm_of(seat.last);
    if (is_for(seat, tollbar_of_all)) {
        wait.comm = rank.comm(tollbar_comm_of(seat.at));
        wait.number = seat.number;
    } else if (seat.number != 0 && tollbar_counts(call_of(seat).kind) != 0) {
        wait.comm = last;
        wait.number = seat.number;
    } else if (last != nullptr && is_for(seat, tollbar_no_way)) {
        const tollbar_counted* const begun = counted_at(*last, seat.last_number);
        if (begun == nullptr || call_of(*begun).kind != tollbar_begun) return wait;
        wait.comm = last;
        wait.number = seat.last_number;
        wait.is_sure = false;
    }
    return wait;
}

bool sends_too(const tollbar_seat& seat) { return std::string_view(call_of(seat).name).starts_with("MPI_Sendrecv"); }

std::string whom_it_needs(const tollbar_seat& seat, const tollbar_comm& comm, std::uint64_t number) {
    const tollbar_counted* const counted = counted_at(comm, number);
    const tollbar_call& call = counted == nullptr ? call_of(seat) : call_of(*counted);
    const std::string_view name = call.name;
    if (name.starts_with("MPI_Neighbor") || name.starts_with("MPI_Ineighbor"))
        return "cannot tell which of them are neighbours of the ranks that wait";
    return tollbar_counts(call.kind) != 0 ? "" : "cannot tell which of them it needs";
}

const tollbar_seat* message_of(const Rank& rank) {
    const tollbar_seat* only = nullptr;
    if (rank.row.unseen != 0) return nullptr;
    for (const tollbar_seat& seat : rank.row.seats) {
        if (seat.at == 0) continue;
        if (only != nullptr || tollbar_state_of(seat.at) != tollbar_inside || call_of(seat).tag == 0 || sends_too(seat))
            return nullptr;
        only = &seat;
    }
    return only != nullptr && only->peer >= 0 ? only : nullptr;
}

bool may_meet(const Rank& one, const Rank& other) {
    const tollbar_seat &its = *message_of(one), &others = *message_of(other);
    const auto id_of = [](const Rank& rank, const tollbar_seat& seat) {
        const tollbar_comm* const comm = rank.comm(tollbar_comm_of(seat.at));
        return comm == nullptr ? 0 : comm->id;
    };
    const std::uint64_t id = id_of(one, its), another = id_of(other, others);
    return call_of(its).kind != call_of(others).kind && (its.tag < 0 || others.tag < 0 || its.tag == others.tag) &&
           (id == 0 || another == 0 || id == another);
}

}  // namespace tollbar::detail::missing

// SPDX-License-Identifier: Apache-2.0
// The ranks of an MPI job as they were seen: the calls of each, and for how long.
#pragma once

#include "calls.h"
#include "seats.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tollbar::detail::missing {

using Clock = std::chrono::steady_clock;

/// As the file has times.
inline std::uint64_t nanoseconds(Clock::duration time) {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}
inline std::uint64_t now_ns() { return nanoseconds(Clock::now().time_since_epoch()); }

/// A row as it was when it was looked at. Few of its communicators are in use, and only these are copied.
struct Row {
    std::uint64_t state = tollbar_row_free;
    std::int32_t rank = 0, process = 0;
    std::uint64_t start = 0;
    std::uint64_t unseen = 0, last = 0, last_number = 0;
    std::array<tollbar_started, tollbar_persistent> started{};
    std::array<tollbar_seat, tollbar_seats> seats{};
    std::vector<tollbar_comm> comms;  ///< up to the last one in use; the id of nobody's is 0
};

/// A host of which ranks are known.
struct KnownHost {
    std::string name;
    double age_s = 0;                ///< of what is known, where that has travelled
    bool is_news = true;             ///< it was not known when it was concluded last
    std::vector<std::string> texts;  ///< of ranks that have travelled: a site is the place of its text
};

/// A rank's row, and for how long each of its seats has been seen in its call; 0 outside.
struct Rank {
    Row row;
    std::array<double, tollbar_seats> waited_s{};
    const KnownHost* host = nullptr;
    std::size_t doing = 0;  ///< the place of that text, where the rank has travelled

    /// nullptr for 0, the index of none, and where it is nobody's.
    const tollbar_comm* comm(std::uint64_t index_plus_one) const;
    /// nullptr where this rank does not have that one, and for 0, the identity of none.
    const tollbar_comm* comm_of(std::uint64_t id) const;
    /// How often it has started that persistent collective call; 0: never, or it is not known.
    std::uint64_t starts(std::uint64_t id, std::uint64_t number) const;
    /// The thread that tells most of it: one in a call, else the one that was first in the MPI.
    const tollbar_seat& telling() const;
};

/// The call of that number; nullptr where it has not been made, or is forgotten.
const tollbar_counted* counted_at(const tollbar_comm& comm, std::uint64_t number);

/// "MPI_COMM_WORLD".
std::string name_of(const tollbar_comm& comm);

inline const tollbar_call& call_of(unsigned line) { return tollbar_calls[line < tollbar_number_of_calls ? line : 0]; }
inline const tollbar_call& call_of(const tollbar_seat& seat) { return call_of(tollbar_call_of(seat.at)); }
/// The way of the message that it waits for; tollbar_no_way without one, and where several partners may be meant.
inline tollbar_purpose way_of(const tollbar_seat& seat) {
    const tollbar_call& call = call_of(seat);
    const bool is_a_way = seat.way > tollbar_no_way && seat.way <= tollbar_to_or_from;
    if (tollbar_takes_requests(&call)) return is_a_way ? tollbar_purpose(seat.way) : tollbar_no_way;
    if (call.tag == 0) return tollbar_no_way;
    return call.kind == tollbar_sends ? tollbar_to : tollbar_from;
}
/// Whether it is a wait for requests of that purpose; the seat has the number of a collective call.
inline bool is_for(const tollbar_seat& seat, tollbar_purpose way) {
    return tollbar_takes_requests(&call_of(seat)) && seat.way == way;
}
inline bool is_outside(const tollbar_seat& seat) { return tollbar_state_of(seat.at) == tollbar_outside; }

}  // namespace tollbar::detail::missing

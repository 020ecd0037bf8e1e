// SPDX-License-Identifier: Apache-2.0
// Waits of ranks: each is at a collective call, for a message, or for something else.
#pragma once

#include "ranks.hpp"

#include <cstdint>
#include <string>

namespace tollbar::detail::missing {

/// A wait, and at which collective call that is; without a communicator it is for something else.
struct Wait {
    const Rank* rank = nullptr;
    const tollbar_seat* seat = nullptr;
    double seconds = 0;
    const tollbar_comm* comm = nullptr;
    std::uint64_t number = 0;
    bool is_sure = true;  ///< that it is for this call
};

/// MPI_Wait and its like may wait for the thread's last collective call, where that one has only been begun, and where
/// it is not known what their requests are for.
Wait wait_of(const Rank& rank, const tollbar_seat& seat, double seconds);

inline bool is_message(const tollbar_seat& seat) { return way_of(seat) != tollbar_no_way; }

/// It waits for the rank that it names, or for another one to which it sends.
bool sends_too(const tollbar_seat& seat);

/// A clause about a call that waits for its neighbours alone, or may do so, as it is known no more; else empty.
std::string whom_it_needs(const tollbar_seat& seat, const tollbar_comm& comm, std::uint64_t number);

/// The call for a message of one partner that a rank is in, if none of its threads could be a partner meanwhile: a call
/// that sends and receives may be sending to anybody, and what a request is for may be under way. nullptr else.
const tollbar_seat* message_of(const Rank& rank);

/// A message that one sends and the other receives is under way; both are in such a call.
bool may_meet(const Rank& one, const Rank& other);

}  // namespace tollbar::detail::missing

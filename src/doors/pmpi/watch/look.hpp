// SPDX-License-Identifier: Apache-2.0
// One look at the seats of a host, as values.
#pragma once

#include "seats.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tollbar::detail::watch {

struct Counted {
    unsigned call = 0;
    unsigned operation = 0;
    std::uint32_t root = 0;  ///< plus one; 0: none
    std::uint64_t bytes = 0;
    std::uint64_t site = 0;
};

struct Comm {
    std::uint64_t id = 0;  ///< 0: none is at this index
    std::uint64_t count = 0;
    std::array<Counted, tollbar_kept> last;
    std::uint64_t size = 0;
    bool in_world = false;
    std::string name;

    /// The call of that number; nullptr where it has not been made, or is forgotten.
    const Counted* at(std::uint64_t number) const;
};

struct Seat {
    std::uint64_t at = 0;
    std::uint64_t site = 0;
    std::uint64_t number = 0;  ///< of a collective call; 0: it is none
    int peer = 0;
    int tag = 0;
    unsigned last = 0;    ///< plus one
    double waited_s = 0;  ///< for how long it has been seen in this call; 0 outside

    tollbar_state state() const { return tollbar_state_of(at); }
    unsigned call() const { return tollbar_call_of(at); }
    unsigned comm() const { return tollbar_comm_of(at); }  ///< plus one
};

struct Rank {
    int rank = 0;
    pid_t process = 0;
    std::uint64_t start = 0;
    bool left = false;
    std::vector<Seat> seats;
    std::vector<Comm> comms;  ///< by index

    /// nullptr for 0.
    const Comm* comm(unsigned index_plus_one) const;
    /// nullptr where this rank does not have that one.
    const Comm* comm_of(std::uint64_t id) const;
};

std::string_view name_of_call(unsigned call);

/// "MPI_SUM"; "an operation of its own".
std::string_view name_of_operation(unsigned operation);

/// The ranks of a file, in ascending order. A seat that changes while it is looked at is shown as outside.
/// Memory order: as seats.h says.
std::vector<Rank> look(const tollbar_seats_file& file);

/// Looks again and again, and tells for how long each seat has been in its call.
class Looking {
public:
    using Clock = std::chrono::steady_clock;

    explicit Looking(const tollbar_seats_file& file) : file_(file), since_(tollbar_rows * tollbar_seats) {}

    std::vector<Rank> look(Clock::time_point now);

    /// What was seen before counts no more: this process was stopped meanwhile, and perhaps all of them.
    void forget() { since_.assign(since_.size(), {}); }

private:
    struct Since {
        std::uint64_t at = 0;
        Clock::time_point time;
    };

    const tollbar_seats_file& file_;
    std::vector<Since> since_;
};

}  // namespace tollbar::detail::watch

// SPDX-License-Identifier: Apache-2.0
// One look at the seats of a host, as values.
#pragma once

#include "missing/ranks.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tollbar::detail::watch {

using namespace missing;

/// Looks again and again.
class Looking {
public:
    Looking(const tollbar_seats_file& file, const KnownHost& host) : file_(file), host_(host) {}

    /// The ranks in ascending order. A seat that changes while it is looked at is shown as outside, and so is one that
    /// polled, and has not for half of the time since: its thread computes.
    /// Memory order: as seats.h says.
    std::vector<Rank> look(Clock::time_point now);

    struct Longest {
        double waited_s = 0;  ///< in a call
        double stood_s = 0;   ///< a rank, with none of its seats changed, in a call or not
    };
    /// The longest wait and the longest stand, as seen now: little is read for them. Memory order: as look().
    Longest longest(Clock::time_point now);

    /// Whether all that had waited for `timeout_s` are in the same calls still.
    bool still_wait(const std::vector<Rank>& ranks, double timeout_s) const;

    /// Earlier looks count no more: this process was stopped meanwhile, and perhaps all of them.
    void forget() { since_.clear(); }

private:
    struct Since {
        std::array<std::uint64_t, tollbar_seats> at{}, polls{};
        std::array<Clock::time_point, tollbar_seats> time{}, polled{};
    };

    std::size_t rows() const;
    double waited(std::size_t row, std::size_t seat, std::uint64_t at, Clock::time_point now);

    const tollbar_seats_file& file_;
    const KnownHost& host_;
    std::vector<Since> since_;
};

}  // namespace tollbar::detail::watch

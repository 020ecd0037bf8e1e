// SPDX-License-Identifier: Apache-2.0
// The account of a rank: how long it has waited for whom, in which collective call of which communicator and where.
#pragma once

#include "missing/ranks.hpp"

#include "missing/places.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tollbar::detail::watch {

using namespace missing;

/// In place of the rank that came last.
enum : int { elsewhere = -1 /* a rank of another host */, unknown = -2 };

struct Late {
    int rank = unknown;
    std::uint64_t ns = 0;  ///< until when it was waited for
};

/// The last of the ranks of this host that came to that call while a rank was in it. Nobody is known where a rank has
/// gone on by so many calls that this one is forgotten: it may have come first or last. A rank of another host is late
/// where the call went on after all of this host had come, for longer than these were waited for; nobody is known where
/// all ranks are on this host, and one has freed the communicator since.
Late late_of(const tollbar_seats_file& file, const tollbar_comm& comm, std::uint64_t number, std::uint64_t entered_ns,
             std::uint64_t left_ns) noexcept;

/// To be called when the account begins.
void begin_account() noexcept;

/// Adds a stay in that call. A rank that is not late by tollbar_long_ns has kept nobody waiting.
void add_stay(const tollbar_seats_file& file, const tollbar_comm& comm, std::uint64_t number, std::uint64_t entered_ns,
              std::uint64_t left_ns) noexcept;

/// Gives what has been added, in lines of fields with tabs between, times in seconds of the host's clock: "rank", the
/// rank, its host, when it began and ended; "sum", the rank, a call, its communicator and the ranks of that, where it
/// was called, the build id and the inode of that file, who was late, how often that was so and how long together; for
/// each of the longest waits, `most` at most, "wait", the same eight, the number of the call, from when and until when.
/// Sums without room in `bytes` become one of several calls, waits without room are left out; the first line and that
/// sum are there in any case.
std::string account(int rank, std::size_t most, std::size_t bytes, const std::function<CodePlace(std::uint64_t)>& site);

/// The bytes that each of so many ranks may give, so that all together are few enough for the MPI's counts, and for the
/// memory of the one that gets them.
constexpr std::size_t account_bytes(std::size_t ranks) noexcept {
    constexpr std::size_t all = std::size_t{1} << 28, least = 512;
    return all / (ranks == 0 ? 1 : ranks) < least ? least : all / (ranks == 0 ? 1 : ranks);
}

}  // namespace tollbar::detail::watch

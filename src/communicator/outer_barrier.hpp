// SPDX-License-Identifier: Apache-2.0
// A barrier that runs elsewhere as two steps of a plan: arrive, and await its end.
#pragma once

#include <tollbar/detail/sync.hpp>

#include <chrono>
#include <cstdint>

namespace tollbar::mpi {

/// What the network cards of the nodes run, or, for the threads of a rank, what the ranks run. One thread at a time.
class OuterBarrier {
public:
    enum class State : std::uint8_t {
        over,
        under_way,
        gone,  ///< nothing runs it any more: no further episode ends
    };

    OuterBarrier() = default;
    virtual ~OuterBarrier() = default;
    OuterBarrier(const OuterBarrier&) = delete;
    OuterBarrier& operator=(const OuterBarrier&) = delete;

    /// Enters the next episode, after the end of the one before. Blocks only where the caller would go on to wait for
    /// its end, which it then is. Memory order: release of everything this thread did or saw before; when over, as
    /// test().
    virtual State arrive() noexcept = 0;

    /// What became of the episode entered last. Never blocks. Memory order: acquire of what everybody did before they
    /// arrived, when over.
    virtual State test() noexcept = 0;

    /// As test(), and waits for it, until then or until a moment that suits it better.
    virtual State wait_until(Deadline deadline) noexcept = 0;
    State wait_until(Never) noexcept { return wait_until(Deadline{std::chrono::steady_clock::time_point::max()}); }
};

}  // namespace tollbar::mpi

// SPDX-License-Identifier: Apache-2.0
// The visits of a process's threads to gates: a list that only grows, from which a thread takes a free slot at its
// first wait and gives it back when it ends.
#pragma once

#include "waiting/gate.hpp"

#include <atomic>
#include <cstdint>
#include <sys/types.h>

namespace tollbar::detail {

/// A thread's visit, on lines of its own.
struct alignas(line_bytes) VisitSlot {
    /// The thread that has the slot; 0: nobody has it.
    pid_t thread() const noexcept { return static_cast<pid_t>(holder.load(std::memory_order_relaxed)); }

    GateVisit<NativeSync> visit;
    std::atomic<std::uint64_t> holder{0};  ///< the thread in the low half; above how often it was taken, and how
    VisitSlot* next = nullptr;
};

namespace visits {

/// The calling thread's slot. A thread that waits in a destructor that runs after the slot was given back takes one
/// again, which others take over when the thread has ended.
VisitSlot& mine() noexcept;

/// The newest slot; the others follow it. Memory order: acquire, pairs with the release of a thread that adds one.
const VisitSlot* newest() noexcept;

}  // namespace visits

}  // namespace tollbar::detail

// SPDX-License-Identifier: Apache-2.0
// Barriers of other libraries, recognized in memory by their layout and by the frames of a thread that waits there.
#pragma once

#include "process.hpp"

namespace tollbar::look {

/// Fills the thread's barriers. A layout that does not pass its own checks is not reported.
void find_barriers(const Process& process, Thread& thread);

/// Whether the frames show a barrier whose address only the registers of the thread may have.
bool needs_registers(const Process& process, const Thread& thread);

/// Whether fewer of a process's threads were seen at a barrier of libc++ than have arrived there. Its waiters wake
/// every 8 ms, and one that is awake is seen at no barrier.
bool lacks_waiters_of_libcxx(const std::vector<Thread>& threads);

}  // namespace tollbar::look

// SPDX-License-Identifier: Apache-2.0
// Barriers of other libraries, recognized in memory by their layout and by the frames of a thread that waits there.
#pragma once

#include "process.hpp"

namespace tollbar::look {

/// Fills the thread's barriers. A layout that does not pass its own checks is not reported.
void find_barriers(const Process& process, Thread& thread);

/// Whether the frames show a barrier whose address only the registers of the thread may have.
bool needs_registers(const Process& process, const Thread& thread);

}  // namespace tollbar::look

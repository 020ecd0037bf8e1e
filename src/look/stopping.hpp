// SPDX-License-Identifier: Apache-2.0
// The only place that stops a thread: for a copy of its registers and its stack, and for nothing else.
#pragma once

#include "process.hpp"

#include <string>

namespace tollbar::look {

/// The folder in which the kernel tells about a thread.
std::string task_folder(const Thread& thread);

/// Stops the thread if it still runs, or sleeps in a call that the kernel restarts as if nothing had happened (futex
/// waits; clock_nanosleep where that is what the look has found; no other); copies its registers and its stack; lets it
/// go. A thread that has gone to sleep in another call meanwhile is left alone. When the caller is killed in between,
/// the kernel lets the thread go. False on arm64, where nothing is stopped.
bool copy_stopped(const Process& process, Thread& thread, std::size_t most_stack);

/// Copies the stack of a thread, which is stopped for that if it runs; none where it falls asleep and wakes up again
/// and again meanwhile. Fills what it was in then, as read_call() does.
void copy(const Process& process, Thread& thread, std::size_t most_stack);

}  // namespace tollbar::look

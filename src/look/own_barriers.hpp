// SPDX-License-Identifier: Apache-2.0
// tollbar's own barriers in the memory of a process, found by the word that a waiter sleeps on.
#pragma once

#include "groups.hpp"
#include "process.hpp"

#include <optional>

namespace tollbar::look {

/// Adds the barrier of threads without ranks, in C++, C or Python, that the thread waits at. No frame is needed: a word
/// that is not part of such an object does not pass for one.
void add_own(const Process& process, Thread& thread);

/// Adds tollbar's barrier in the place of glibc's, for a thread that waits in the preloaded library.
void add_gate(const Process& process, Thread& thread);

/// Adds the barrier of an OpenMP region whose threads meet at leaves, for one that waits in the preloaded library.
void add_region(const Process& process, Thread& thread);

/// The group that the thread waits in, where it is none of `known`: one without a name, or of another user.
std::optional<SeenGroup> group_of(const Process& process, const Thread& thread, const std::vector<SeenGroup>& known);

}  // namespace tollbar::look

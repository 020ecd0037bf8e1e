// SPDX-License-Identifier: Apache-2.0
// The rule by which a process-shared barrier is ours: in memory that no program can map which does not have the door.
#pragma once

namespace tollbar::detail::pthread_door {

/// Whether only this process and its children by fork(2) can have that memory: it is private, or shared and anonymous.
/// False as well where the kernel does not say.
bool only_children_share(const void* address) noexcept;

}  // namespace tollbar::detail::pthread_door

// SPDX-License-Identifier: Apache-2.0
// Open MPI's own functions, found at run time: its progress, which its shmem_test does not call, and a crash.
#pragma once

namespace tollbar::detail::shmem {

/// Makes the OpenSHMEM answer other PEs. In Open MPI, whose shmem_test only compares; elsewhere shmem_test does it.
void make_progress() noexcept;

/// Whether the OpenSHMEM has a progress that others can join: Open MPI's.
bool progress_can_be_joined() noexcept;

/// Has `advance` (which returns how much it did) called whenever Open MPI makes progress itself; until
/// leave_progress().
void join_progress(int (*advance)()) noexcept;
void leave_progress(int (*advance)()) noexcept;

}  // namespace tollbar::detail::shmem

// SPDX-License-Identifier: Apache-2.0
// Communicators of Open MPI and MPICH, recognized on the stack of a thread that is in a call of the MPI.
#pragma once

#include "frames.hpp"

namespace tollbar::look {

class Communicators {
public:
    /// Looks up what that process has of Open MPI. A layout that does not show MPI_COMM_WORLD is not used.
    Communicators(const Process& process, Unwinder& unwinder);

    /// Fills the thread's communicators, the one nearest to the outermost call first; further ones may be left over
    /// from earlier calls.
    void find(Thread& thread) const;

private:
    std::optional<Communicator> of_open_mpi(Address at) const;

    const Process& process_;
    Address class_ = 0;  ///< with which each communicator of Open MPI begins; 0: another MPI
    std::size_t name_at_ = 0;
};

}  // namespace tollbar::look

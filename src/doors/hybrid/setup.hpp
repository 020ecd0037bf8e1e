// SPDX-License-Identifier: Apache-2.0
// The agreement of a combined barrier's ranks before its first episode: whether they may, and their own barrier.
#pragma once

#include "base/error.hpp"
#include "communicator/participant.h"

#include <mpi.h>

#include <string>

namespace tollbar::detail::hybrid {

using c_door::Refusal;

/// Throws a Refusal when the MPI gave an error.
void demand(int code, const char* what);

bool is_main_thread();

/// Throws a Refusal for what keeps this rank from talking to the others; gives the thread level.
int level_that_lets_talk(MPI_Comm comm);

std::string name_of_communicator(MPI_Comm comm);
int rank_in(MPI_Comm comm);
int ranks_of(MPI_Comm comm);

/// This rank's part in the barrier of the ranks, over a duplicate of their communicator.
class RankPart {
public:
    /// Collective: makes the duplicate, and its messages. Throws a Refusal.
    explicit RankPart(MPI_Comm of);
    ~RankPart();
    RankPart(const RankPart&) = delete;
    RankPart& operator=(const RankPart&) = delete;

    /// Collective: throws the refusal of the lowest rank that has one, on every rank alike.
    void agree_on(const Refusal& mine) const;

    /// Collective, once. Throws a Refusal on every rank alike. `outer` may be null.
    void join(const char* outer, const char* name);

    MPI_Comm comm() const noexcept { return comm_; }
    const tollbar_p2p& p2p() const noexcept { return p2p_; }
    tollbar_mpi_participant* participant() const noexcept { return participant_; }

    /// Collective, once it has joined: a communicator of the ranks that share this rank's node.
    MPI_Comm node() const;

private:
    MPI_Comm comm_ = MPI_COMM_NULL;
    tollbar_p2p p2p_{};
    tollbar_mpi_participant* participant_ = nullptr;
};

}  // namespace tollbar::detail::hybrid

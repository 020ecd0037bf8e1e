// SPDX-License-Identifier: Apache-2.0
// What the ranks of a combined barrier settle before its first episode: whether they may, and their own barrier.
#pragma once

#include "runtime/error.hpp"
#include "communicator/participant.h"

#include <mpi.h>

#include <string>

namespace tollbar::hybrid {

using runtime::Refusal;

/// Throws a Refusal when the MPI gave an error.
void demand(int code, const char* what);

bool is_main_thread();

/// Throws a Refusal for what keeps this rank from talking to the others; gives the thread level.
int level_that_lets_talk(MPI_Comm comm);

/// Collective: throws on every rank what the lowest rank with a refusal has to say.
void agree_on(const Refusal& mine, MPI_Comm comm);

std::string name_of_communicator(MPI_Comm comm);
int rank_in(MPI_Comm comm);
int ranks_of(MPI_Comm comm);

/// A duplicate of a communicator, freed collectively.
class Communicator {
public:
    explicit Communicator(MPI_Comm of);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    operator MPI_Comm() const noexcept { return comm_; }

private:
    MPI_Comm comm_;
};

/// This rank's part in the barrier of the ranks.
class RankPart {
public:
    /// Collective. Throws a Refusal on every rank alike. `outer` may be null.
    RankPart(MPI_Comm comm, const char* outer, const char* name);
    ~RankPart();
    RankPart(const RankPart&) = delete;
    RankPart& operator=(const RankPart&) = delete;

    const tollbar_p2p& p2p() const noexcept { return p2p_; }
    tollbar_mpi_participant* participant() const noexcept { return participant_; }

private:
    tollbar_p2p p2p_{};
    tollbar_mpi_participant* participant_ = nullptr;
};

/// Collective: a communicator of the ranks of `comm` that share this rank's node.
MPI_Comm node_of(MPI_Comm comm, const RankPart& part);

}  // namespace tollbar::hybrid

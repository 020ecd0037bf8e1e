/* SPDX-License-Identifier: Apache-2.0
 * The point-to-point calls over an MPI communicator, by the profiling names (PMPI_...), so that nobody's hooks are
 * called. Compiled once for each MPI, with its mpi.h; also by smpicc. */
#ifndef TOLLBAR_TRANSPORTS_MPI_PMPI_P2P_H
#define TOLLBAR_TRANSPORTS_MPI_PMPI_P2P_H

#include "p2p.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in `p2p` over `comm`, which is used for nothing else from now on and not freed. Returns 0 or an MPI error
 * code. Uses persistent requests. */
int tollbar_pmpi_p2p_open(MPI_Comm comm, struct tollbar_p2p* p2p);

/* The same with nothing of its own: messages go through `private_comm`, a communicator of tollbar's that may carry
 * those of many at once, each by tags of its own. Collective: begins to tell these over `comm`, see is_apart(). Two
 * communicators in ten thousand have the same tags, so only where each process makes one call of MPI at a time and
 * finishes an episode before the next one of any of them: then the messages between two ranks come in the same order on
 * both sides, whichever they belong to. Returns MPI_ERR_GROUP, on every rank alike, when the private communicator does
 * not reach every rank. */
int tollbar_pmpi_p2p_open_through(MPI_Comm comm, MPI_Comm private_comm, struct tollbar_p2p* p2p);

/* Has the error() of `p2p` look at `comm`, the user's, every few milliseconds: `look` returns the MPI's code for what
 * keeps it from ever ending a barrier, else MPI_SUCCESS. MPI_COMM_NULL: no more, for the user has freed it. */
void tollbar_pmpi_p2p_watch(struct tollbar_p2p* p2p, MPI_Comm comm, int (*look)(MPI_Comm comm));

/* After the last channel was closed. */
void tollbar_pmpi_p2p_close(struct tollbar_p2p* p2p);

#ifdef __cplusplus
}
#endif

#endif

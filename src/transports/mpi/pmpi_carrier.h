/* SPDX-License-Identifier: Apache-2.0
 * A carrier over an MPI communicator, by the profiling names (PMPI_...), so that nobody's hooks are called. Compiled
 * once for each MPI, with its mpi.h; also by smpicc. */
#ifndef TOLLBAR_TRANSPORTS_MPI_PMPI_CARRIER_H
#define TOLLBAR_TRANSPORTS_MPI_PMPI_CARRIER_H

#include "carrier.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Fills in a carrier over `comm`, which is used for nothing else from now on and not freed. Returns 0 or an MPI error
 * code. Uses persistent requests. */
int tollbar_pmpi_carrier_open(MPI_Comm comm, struct tollbar_carrier* carrier);

/* The same with nothing of its own: messages go through `office`, a communicator of tollbar's that may carry those of
 * many carriers at once, and the broadcasts of the set-up are collectives of `comm` like the user's. Only where each
 * process makes one call of MPI at a time and finishes an episode before the next one of any carrier: then the messages
 * between two ranks come in the same order on both sides, whichever carrier they are of. Returns MPI_ERR_GROUP, on
 * every rank alike, when the office does not reach every rank. */
int tollbar_pmpi_carrier_open_through(MPI_Comm comm, MPI_Comm office, struct tollbar_carrier* carrier);

/* After the last channel was closed. */
void tollbar_pmpi_carrier_close(struct tollbar_carrier* carrier);

#ifdef __cplusplus
}
#endif

#endif

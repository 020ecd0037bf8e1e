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

/* After the last channel was closed. */
void tollbar_pmpi_carrier_close(struct tollbar_carrier* carrier);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Failures of a communicator that a fault-tolerant MPI (User Level Failure Mitigation) reports. */
#ifndef TOLLBAR_DOORS_PMPI_FAILURES_H
#define TOLLBAR_DOORS_PMPI_FAILURES_H

#include <mpi.h>

/* Gives the MPI's code for what keeps it from ever ending a barrier of the communicator (a rank has died, or it was
 * revoked), else MPI_SUCCESS. Local, never blocks, calls no error handler. */
typedef int (*tollbar_look)(MPI_Comm comm);

/* As a look, but only for revocation: a rank's death ends a wait soon enough, but a revoked communicator must not be
 * entered. */
int tollbar_is_revoked(MPI_Comm comm);

/* NULL where the MPI goes on after no failure: then its launcher ends the job. The same on every rank. */
tollbar_look tollbar_failures(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Fortran's integers for handles, which the standard ABI converts by other names than the MPIs do. */
#ifndef TOLLBAR_DOORS_PMPI_HANDLES_H
#define TOLLBAR_DOORS_PMPI_HANDLES_H

#include <mpi.h>

MPI_Comm tollbar_comm_of_fortran(int handle);
MPI_Info tollbar_info_of_fortran(int handle);
int tollbar_request_to_fortran(MPI_Request request);
MPI_Request tollbar_request_of_fortran(int handle);

#endif

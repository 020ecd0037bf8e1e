/* SPDX-License-Identifier: Apache-2.0
 * Handles of Fortran in the MPIs' own interfaces. */
#include "handles.h"

#pragma weak PMPI_Comm_f2c
#pragma weak PMPI_Info_f2c
#pragma weak PMPI_Request_c2f
#pragma weak PMPI_Request_f2c

MPI_Comm tollbar_comm_of_fortran(int handle) { return PMPI_Comm_f2c(handle); }

MPI_Info tollbar_info_of_fortran(int handle) { return PMPI_Info_f2c(handle); }

int tollbar_request_to_fortran(MPI_Request request) { return PMPI_Request_c2f(request); }

MPI_Request tollbar_request_of_fortran(int handle) { return PMPI_Request_f2c(handle); }

/* SPDX-License-Identifier: Apache-2.0
 * Handles of Fortran in the standard ABI. */
#include "handles.h"

#pragma weak PMPI_Comm_fromint
#pragma weak PMPI_Info_fromint
#pragma weak PMPI_Request_toint
#pragma weak PMPI_Request_fromint

MPI_Comm tollbar_comm_of_fortran(int handle) { return PMPI_Comm_fromint(handle); }

MPI_Info tollbar_info_of_fortran(int handle) { return PMPI_Info_fromint(handle); }

int tollbar_request_to_fortran(MPI_Request request) { return PMPI_Request_toint(request); }

MPI_Request tollbar_request_of_fortran(int handle) { return PMPI_Request_fromint(handle); }

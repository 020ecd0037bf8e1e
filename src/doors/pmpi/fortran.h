/* SPDX-License-Identifier: Apache-2.0
 * What the Fortran names of all MPIs have in common. TOLLBAR_FORTRAN ends the names that this MPI's Fortran calls: "_"
 * or "_f08_", see CMakeLists.txt. */
#ifndef TOLLBAR_DOORS_PMPI_FORTRAN_H
#define TOLLBAR_DOORS_PMPI_FORTRAN_H

#include <mpi.h>

#ifdef TOLLBAR_STANDARD_ABI /* it converts Fortran's handles by other names */
#    define PMPI_Comm_f2c PMPI_Comm_fromint
#    define PMPI_Info_f2c PMPI_Info_fromint
#    define PMPI_Request_c2f PMPI_Request_toint
#    define PMPI_Request_f2c PMPI_Request_fromint
#endif

/* The next definition of a Fortran name, looked up when it is first called. */
struct tollbar_fortran {
    const char* name;
    void (*next)(void*, void*, void*, void*, void*, void*);
};

/* Calls it; nonzero when there is one. All arguments of Fortran are addresses, and whoever takes fewer does not look at
 * the rest. */
int tollbar_go_on(struct tollbar_fortran* call, void* const arguments[6]);

/* Waits politely for those of the requests that are ours. */
void tollbar_settle_all(int count, const int* requests);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * What the library that this is linked into knows of the program's MPI (src/doors/pmpi), and which of the MPI's
 * functions are looked up only when called. */
#ifndef TOLLBAR_DOORS_HYBRID_HOST_H
#define TOLLBAR_DOORS_HYBRID_HOST_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 when the program's MPI is the one this library was compiled for; a line on stderr has said so otherwise. */
int tollbar_find_fit(void);

/* Such as "openmpi-4.1.4"; once that is known. */
const char* tollbar_mpi_key(void);

#ifdef __cplusplus
}
#endif

#pragma weak PMPI_Comm_dup
#pragma weak PMPI_Comm_split
#pragma weak PMPI_Iallgather
#pragma weak PMPI_Is_thread_main

#endif

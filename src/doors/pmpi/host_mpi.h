/* SPDX-License-Identifier: Apache-2.0
 * The MPI of the program that this library was loaded into: which it is, and whether it is the one this library was
 * compiled for. */
#ifndef TOLLBAR_DOORS_PMPI_HOST_MPI_H
#define TOLLBAR_DOORS_PMPI_HOST_MPI_H

#include <stdatomic.h>

/* 1 once it is known that the hooks may do anything but pass on. */
extern _Atomic int tollbar_known_to_fit;

/* Nonzero when this library was loaded into a program whose MPI it was compiled for. To be asked before any name of the
 * MPI's is used, its constants included. Looks at the first call only, and says on stderr what it found if it was not.
 * include/tollbar/mpi.h asks it too, see doors/hybrid/host.h. */
int tollbar_find_fit(void);

static inline int tollbar_fits(void) {
    /* Acquire: pairs with the release where it is found. */
    return atomic_load_explicit(&tollbar_known_to_fit, memory_order_acquire) || tollbar_find_fit();
}

/* Such as "openmpi-4.1.4", "mpich-5.0.2" or "impi-2021.19"; "" before tollbar_find_fit(). */
const char* tollbar_mpi_key(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * The MPI of the program that this library was loaded into: which it is, and whether it is the one this library was
 * compiled for. */
#ifndef TOLLBAR_TRANSPORTS_MPI_HOST_MPI_H
#define TOLLBAR_TRANSPORTS_MPI_HOST_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

/* 1 once it is known that the hooks may do anything but pass on. */
extern int tollbar_known_to_fit;

/* Nonzero when this library was loaded into a program whose MPI it was compiled for. To be asked before any name of the
 * MPI's is used, its constants included. Looks at the first call only, and says on stderr what it found if it was
 * not. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
int tollbar_find_fit(void);

/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
static inline int tollbar_fits(void) {
    /* Acquire: pairs with the release where it is found. */
    return __atomic_load_n(&tollbar_known_to_fit, __ATOMIC_ACQUIRE) || tollbar_find_fit();
}

/* Such as "openmpi-4.1.4", "mpich-5.0.2" or "impi-2021.19"; "" before tollbar_find_fit(). */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
const char* tollbar_mpi_key(void);

/* The definition that comes after this library's own, a tool's that was loaded behind it, else the MPI's; NULL when
 * there is none. */
void (*tollbar_next_definition(const char* name))(void);

#ifdef __cplusplus
}
#endif

#endif

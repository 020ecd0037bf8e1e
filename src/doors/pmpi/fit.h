/* SPDX-License-Identifier: Apache-2.0
 * Whether this library was loaded into a program whose MPI it was compiled for. To be asked before any name of the
 * MPI's is used, its constants included. */
#ifndef TOLLBAR_DOORS_PMPI_FIT_H
#define TOLLBAR_DOORS_PMPI_FIT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Nonzero when it was. Looks at the first call only, and then says on stderr what it found if it was not. */
int tollbar_find_fit(void);

#ifdef __cplusplus
}
#endif

#endif

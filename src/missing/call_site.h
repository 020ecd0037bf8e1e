/* SPDX-License-Identifier: Apache-2.0
 * The place in a program that has called an MPI. */
#ifndef TOLLBAR_MISSING_CALL_SITE_H
#define TOLLBAR_MISSING_CALL_SITE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The call site for a door that is called without one: the innermost return address of the calling thread that is
 * neither in an MPI nor in tollbar; NULL when there is none. Takes a microsecond or a few. */
const void* tollbar_mpi_call_site(void); /* NOLINT(modernize-redundant-void-arg): C needs it */

#ifdef __cplusplus
}
#endif

#endif

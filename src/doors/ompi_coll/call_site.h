/* SPDX-License-Identifier: Apache-2.0
 * Where a barrier was called from, seen from inside Open MPI, for reports of who is missing. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_CALL_SITE_H
#define TOLLBAR_DOORS_OMPI_COLL_CALL_SITE_H

/* The innermost return address of the calling thread that is neither in Open MPI nor in tollbar; NULL when there is
 * none. Takes about a microsecond or a few, so only whoever wants reports calls it. */
const void* tollbar_call_site(void);

#endif

/* SPDX-License-Identifier: Apache-2.0
 * MPI_Wait and MPI_Waitall for a pending MPI_Ibarrier wait as MPI_Barrier does: asleep when that is wise, and naming
 * the missing, instead of asking Open MPI's progress again and again. */
#ifndef TOLLBAR_DOORS_OMPI_COLL_WAITS_H
#define TOLLBAR_DOORS_OMPI_COLL_WAITS_H

/* Any number of times; not while another thread is in the MPI. */
void tollbar_waits_install(void);

/* Before the component is unloaded. */
void tollbar_waits_remove(void);

#endif

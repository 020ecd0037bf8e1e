/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of a preload: nothing is linked, so that the library loads into programs without an MPI,
 * where these names stay unresolved and are not called. */
#ifndef TOLLBAR_DOORS_PMPI_WEAK_NAMES_H
#define TOLLBAR_DOORS_PMPI_WEAK_NAMES_H

#include <mpi.h>

#pragma weak PMPI_Allreduce
#pragma weak PMPI_Barrier
#pragma weak PMPI_Bcast
#pragma weak PMPI_Cancel
#pragma weak PMPI_Comm_call_errhandler
#pragma weak PMPI_Comm_create
#pragma weak PMPI_Comm_create_keyval
#pragma weak PMPI_Comm_dup
#pragma weak PMPI_Comm_free
#pragma weak PMPI_Comm_get_attr
#pragma weak PMPI_Comm_get_name
#pragma weak PMPI_Comm_group
#pragma weak PMPI_Comm_rank
#pragma weak PMPI_Comm_set_attr
#pragma weak PMPI_Comm_set_errhandler
#pragma weak PMPI_Comm_size
#pragma weak PMPI_Comm_split_type
#pragma weak PMPI_Comm_test_inter
#pragma weak PMPI_Finalized
#pragma weak PMPI_Gather
#pragma weak PMPI_Get_library_version
#pragma weak PMPI_Grequest_complete
#pragma weak PMPI_Grequest_start
#pragma weak PMPI_Group_free
#pragma weak PMPI_Group_translate_ranks
#pragma weak PMPI_Iallgather
#pragma weak PMPI_Ibarrier
#pragma weak PMPI_Ibcast
#pragma weak PMPI_Init
#pragma weak PMPI_Init_thread
#pragma weak PMPI_Initialized
#pragma weak PMPI_Iprobe
#pragma weak PMPI_Irecv
#pragma weak PMPI_Is_thread_main
#pragma weak PMPI_Isend
#pragma weak PMPI_Query_thread
#pragma weak PMPI_Recv_init
#pragma weak PMPI_Request_free
#pragma weak PMPI_Send_init
#pragma weak PMPI_Start
#pragma weak PMPI_Status_set_cancelled
#pragma weak PMPI_Status_set_elements
#pragma weak PMPI_Test
#pragma weak PMPI_Testany
#pragma weak PMPI_Testsome
#pragma weak PMPI_Wait
#pragma weak PMPI_Waitall

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of a preload: nothing is linked, so that the library loads into programs without an MPI,
 * where these names stay unresolved and are not called. Those that a source does not use leave no trace in it. */
#ifndef TOLLBAR_DOORS_PMPI_WEAK_NAMES_H
#define TOLLBAR_DOORS_PMPI_WEAK_NAMES_H

__asm__(
    ".weak PMPI_Allreduce, PMPI_Barrier, PMPI_Bcast, PMPI_Cancel, PMPI_Comm_call_errhandler, PMPI_Comm_create\n"
    ".weak PMPI_Comm_create_errhandler, PMPI_Comm_create_group, PMPI_Comm_create_keyval, PMPI_Comm_dup\n"
    ".weak PMPI_Comm_f2c, PMPI_Comm_free\n"
    ".weak PMPI_Comm_fromint, PMPI_Comm_get_attr, PMPI_Comm_get_errhandler, PMPI_Comm_get_name\n"
    ".weak PMPI_Comm_get_parent, PMPI_Comm_group, PMPI_Comm_rank, PMPI_Comm_set_attr, PMPI_Comm_set_errhandler\n"
    ".weak PMPI_Comm_size, PMPI_Comm_split_type, PMPI_Comm_test_inter, PMPI_Errhandler_free, PMPI_Finalized\n"
    ".weak PMPI_Gather, PMPI_Get_library_version, PMPI_Grequest_complete, PMPI_Grequest_start, PMPI_Group_free\n"
    ".weak PMPI_Group_size, PMPI_Group_translate_ranks, PMPI_Iallgather, PMPI_Ibarrier, PMPI_Initialized\n"
    ".weak PMPI_Iprobe, PMPI_Is_thread_main, PMPI_Isend, PMPI_Lookup_name, PMPI_Publish_name, PMPI_Query_thread\n"
    ".weak PMPI_Recv_init, PMPI_Request_c2f, PMPI_Request_f2c, PMPI_Request_free, PMPI_Request_fromint\n"
    ".weak PMPI_Request_get_status, PMPI_Request_toint, PMPI_Send_init, PMPI_Start, PMPI_Status_set_cancelled\n"
    ".weak PMPI_Status_set_elements, PMPI_Test, PMPI_Unpublish_name, PMPI_Wait");

#endif

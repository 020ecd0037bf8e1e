/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of a preload: nothing is linked, so that the library loads into programs without an MPI,
 * where these names stay unresolved and are not called. Those that a source does not use leave no trace in it. */
#ifndef TOLLBAR_DOORS_PMPI_WEAK_NAMES_H
#define TOLLBAR_DOORS_PMPI_WEAK_NAMES_H

__asm__(
    ".weak PMPI_Allreduce, PMPI_Barrier, PMPI_Bcast, PMPI_Cancel, PMPI_Comm_call_errhandler, PMPI_Comm_create\n"
    ".weak PMPI_Comm_create_keyval, PMPI_Comm_dup, PMPI_Comm_f2c, PMPI_Comm_free, PMPI_Comm_fromint\n"
    ".weak PMPI_Comm_get_attr, PMPI_Comm_get_name, PMPI_Comm_group, PMPI_Comm_rank, PMPI_Comm_set_attr\n"
    ".weak PMPI_Comm_set_errhandler, PMPI_Comm_size, PMPI_Comm_split_type, PMPI_Comm_test_inter, PMPI_Finalized\n"
    ".weak PMPI_Gather, PMPI_Get_library_version, PMPI_Grequest_complete, PMPI_Grequest_start, PMPI_Group_free\n"
    ".weak PMPI_Group_translate_ranks, PMPI_Iallgather, PMPI_Ibarrier, PMPI_Info_f2c\n"
    ".weak PMPI_Info_fromint, PMPI_Init, PMPI_Init_thread, PMPI_Initialized, PMPI_Iprobe\n"
    ".weak PMPI_Is_thread_main, PMPI_Isend, PMPI_Query_thread, PMPI_Recv_init, PMPI_Request_c2f, PMPI_Request_f2c\n"
    ".weak PMPI_Request_free, PMPI_Request_fromint, PMPI_Request_get_status, PMPI_Request_get_status_all\n"
    ".weak PMPI_Request_get_status_any, PMPI_Request_get_status_some, PMPI_Request_toint, PMPI_Send_init\n"
    ".weak PMPI_Start, PMPI_Startall, PMPI_Status_set_cancelled, PMPI_Status_set_elements, PMPI_Test, PMPI_Testall\n"
    ".weak PMPI_Testany, PMPI_Testsome, PMPI_Wait, PMPI_Waitall, PMPI_Waitany, PMPI_Waitsome");

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of a preload: nothing is linked, so that the library loads into programs without an MPI,
 * where these names stay unresolved and are not called. Names that a source does not use leave no trace in it. */
#ifndef TOLLBAR_DOORS_PMPI_WEAK_NAMES_H
#define TOLLBAR_DOORS_PMPI_WEAK_NAMES_H

__asm__(
    ".weak PMPI_Abort, PMPI_Allreduce, PMPI_Barrier, PMPI_Cancel, PMPI_Comm_call_errhandler, PMPI_Comm_create\n"
    ".weak PMPI_Comm_create_errhandler, PMPI_Comm_create_group, PMPI_Comm_create_keyval, PMPI_Comm_dup\n"
    ".weak PMPI_Comm_f2c, PMPI_Comm_free, PMPI_Comm_fromint, PMPI_Comm_get_attr, PMPI_Comm_get_errhandler\n"
    ".weak PMPI_Comm_get_name, PMPI_Comm_get_parent, PMPI_Comm_group, PMPI_Comm_rank, PMPI_Comm_set_attr\n"
    ".weak PMPI_Comm_set_errhandler, PMPI_Comm_size, PMPI_Comm_split, PMPI_Comm_test_inter, PMPI_Errhandler_free\n"
    ".weak PMPI_Finalized, PMPI_Gather, PMPI_Gatherv, PMPI_Get_library_version, PMPI_Group_free, PMPI_Group_size\n"
    ".weak PMPI_Group_translate_ranks\n"
    ".weak PMPI_Iallgather, PMPI_Ibcast, PMPI_Initialized, PMPI_Iprobe, PMPI_Is_thread_main, PMPI_Lookup_name\n"
    ".weak PMPI_Publish_name, PMPI_Query_thread, PMPI_Recv_init, PMPI_Request_f2c, PMPI_Request_free\n"
    ".weak PMPI_Request_fromint, PMPI_Send_init, PMPI_Start, PMPI_Test\n"
    ".weak PMPI_Comm_remote_group, PMPI_Op_f2c, PMPI_Op_fromint, PMPI_Type_f2c, PMPI_Type_fromint\n"
    ".weak PMPI_Type_get_envelope, PMPI_Type_size, PMPI_Unpublish_name, PMPI_Wait\n");

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of the preload for Open MPI: the objects behind MPI_BYTE and its like are looked up at run
 * time, so that the library loads into programs without them, and into programs that keep their MPI to themselves. */
#ifndef TOLLBAR_DOORS_PMPI_OPEN_MPI_DATA_H
#define TOLLBAR_DOORS_PMPI_OPEN_MPI_DATA_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    tollbar_comm_world,
    tollbar_comm_self,
    tollbar_comm_null,
    tollbar_group_null,
    tollbar_request_null,
    tollbar_errors_return,
    tollbar_info_null,
    tollbar_byte,
    tollbar_integer,
    tollbar_op_max,
    tollbar_objects
};

/* Filled in by tollbar_find_constants(). */
extern void* tollbar_open_mpi_data[tollbar_objects];

#ifdef __cplusplus
}
#endif

#define ompi_mpi_comm_world (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data[tollbar_comm_world])
#define ompi_mpi_comm_self (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data[tollbar_comm_self])
#define ompi_mpi_comm_null (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data[tollbar_comm_null])
#define ompi_mpi_group_null (*(struct ompi_predefined_group_t*)tollbar_open_mpi_data[tollbar_group_null])
#define ompi_request_null (*(struct ompi_predefined_request_t*)tollbar_open_mpi_data[tollbar_request_null])
#define ompi_mpi_errors_return (*(struct ompi_predefined_errhandler_t*)tollbar_open_mpi_data[tollbar_errors_return])
#define ompi_mpi_info_null (*(struct ompi_predefined_info_t*)tollbar_open_mpi_data[tollbar_info_null])
#define ompi_mpi_byte (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data[tollbar_byte])
#define ompi_mpi_int (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data[tollbar_integer])
#define ompi_mpi_op_max (*(struct ompi_predefined_op_t*)tollbar_open_mpi_data[tollbar_op_max])

#endif

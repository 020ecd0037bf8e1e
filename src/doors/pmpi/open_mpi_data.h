/* SPDX-License-Identifier: Apache-2.0
 * Put before every source of the preload for Open MPI: the objects behind MPI_BYTE and its like are looked up at run
 * time, so that the library loads into programs without them, and into programs that keep their MPI to themselves. */
#ifndef TOLLBAR_DOORS_PMPI_OPEN_MPI_DATA_H
#define TOLLBAR_DOORS_PMPI_OPEN_MPI_DATA_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tollbar_open_mpi_data {
    void* comm_world;
    void* comm_self;
    void* comm_null;
    void* group_null;
    void* request_null;
    void* errors_return;
    void* info_null;
    void* byte;
    void* character;
    void* integer;
    void* two_integers;
    void* op_minloc;
    void* op_max;
};

/* Filled in by tollbar_find_constants(). */
extern struct tollbar_open_mpi_data tollbar_open_mpi_data;

#ifdef __cplusplus
}
#endif

#define ompi_mpi_comm_world (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data.comm_world)
#define ompi_mpi_comm_self (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data.comm_self)
#define ompi_mpi_comm_null (*(struct ompi_predefined_communicator_t*)tollbar_open_mpi_data.comm_null)
#define ompi_mpi_group_null (*(struct ompi_predefined_group_t*)tollbar_open_mpi_data.group_null)
#define ompi_request_null (*(struct ompi_predefined_request_t*)tollbar_open_mpi_data.request_null)
#define ompi_mpi_errors_return (*(struct ompi_predefined_errhandler_t*)tollbar_open_mpi_data.errors_return)
#define ompi_mpi_info_null (*(struct ompi_predefined_info_t*)tollbar_open_mpi_data.info_null)
#define ompi_mpi_byte (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data.byte)
#define ompi_mpi_char (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data.character)
#define ompi_mpi_int (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data.integer)
#define ompi_mpi_2int (*(struct ompi_predefined_datatype_t*)tollbar_open_mpi_data.two_integers)
#define ompi_mpi_op_max (*(struct ompi_predefined_op_t*)tollbar_open_mpi_data.op_max)
#define ompi_mpi_op_minloc (*(struct ompi_predefined_op_t*)tollbar_open_mpi_data.op_minloc)

#endif

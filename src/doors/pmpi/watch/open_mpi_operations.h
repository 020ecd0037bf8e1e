/* SPDX-License-Identifier: Apache-2.0
 * The objects behind MPI_MIN and its like, looked up at run time as those of open_mpi_data.h are. */
#ifndef TOLLBAR_DOORS_PMPI_WATCH_OPEN_MPI_OPERATIONS_H
#define TOLLBAR_DOORS_PMPI_WATCH_OPEN_MPI_OPERATIONS_H

#include <dlfcn.h>

#define tollbar_operation(name) (*(struct ompi_predefined_op_t*)dlsym(RTLD_DEFAULT, "ompi_mpi_op_" #name))
#define ompi_mpi_op_min tollbar_operation(min)
#define ompi_mpi_op_sum tollbar_operation(sum)
#define ompi_mpi_op_prod tollbar_operation(prod)
#define ompi_mpi_op_land tollbar_operation(land)
#define ompi_mpi_op_band tollbar_operation(band)
#define ompi_mpi_op_lor tollbar_operation(lor)
#define ompi_mpi_op_bor tollbar_operation(bor)
#define ompi_mpi_op_lxor tollbar_operation(lxor)
#define ompi_mpi_op_bxor tollbar_operation(bxor)
#define ompi_mpi_op_maxloc tollbar_operation(maxloc)
#define ompi_mpi_op_minloc tollbar_operation(minloc)

#endif

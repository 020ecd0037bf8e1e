/* SPDX-License-Identifier: Apache-2.0
 * MPICH and its kin, by their own mpi.h or by the standard ABI's: constants are numbers. */
#include "family.h"

const char* const tollbar_family = TOLLBAR_MPI_FAMILY;
const int tollbar_mpi_makes_one_at_a_time = 0;

int tollbar_find_constants(void) { return 1; }

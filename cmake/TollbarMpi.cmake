# SPDX-License-Identifier: Apache-2.0
# The MPIs that programs of ours are built with: for each family a target mpi_<family> with what its compiler wrapper
# would add, and TOLLBAR_LAUNCH_<family>, the command that starts ranks. A family that is not installed has neither.
include_guard(GLOBAL)
include(TollbarWrapper)

# tollbar_find_mpi(openmpi mpicc.openmpi mpirun.openmpi flags of the launcher...)
function(tollbar_find_mpi family wrapper launcher)
    find_program(TOLLBAR_MPICC_${family} NAMES ${wrapper})
    find_program(TOLLBAR_MPIRUN_${family} NAMES ${launcher})
    if(NOT TOLLBAR_MPICC_${family} OR NOT TOLLBAR_MPIRUN_${family})
        return()
    endif()
    tollbar_wrapper_target(mpi_${family} ${TOLLBAR_MPICC_${family}} -show)
    if(NOT TARGET mpi_${family})
        return()
    endif()
    set(TOLLBAR_LAUNCH_${family} ${TOLLBAR_MPIRUN_${family}} ${ARGN} CACHE INTERNAL "")
endfunction()

tollbar_find_mpi(openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none)
tollbar_find_mpi(mpich mpicc.mpich mpiexec.mpich)

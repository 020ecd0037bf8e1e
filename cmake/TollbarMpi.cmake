# SPDX-License-Identifier: Apache-2.0
# The MPIs that programs of ours are built with: for each family a target mpi_<family> with what its compiler wrapper
# would add, and TOLLBAR_LAUNCH_<family>, the command that starts ranks. A family that is not installed has neither.
include_guard(GLOBAL)

# tollbar_find_mpi(openmpi mpicc.openmpi mpirun.openmpi flags of the launcher...)
function(tollbar_find_mpi family wrapper launcher)
    find_program(TOLLBAR_MPICC_${family} NAMES ${wrapper})
    find_program(TOLLBAR_MPIRUN_${family} NAMES ${launcher})
    if(NOT TOLLBAR_MPICC_${family} OR NOT TOLLBAR_MPIRUN_${family})
        return()
    endif()
    execute_process(COMMAND ${TOLLBAR_MPICC_${family}} -show OUTPUT_VARIABLE shown RESULT_VARIABLE status
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT status STREQUAL "0")
        return()
    endif()
    separate_arguments(words UNIX_COMMAND "${shown}")
    list(POP_FRONT words)
    set(folders ${words})
    list(FILTER folders INCLUDE REGEX "^-I")
    list(TRANSFORM folders REPLACE "^-I" "")
    list(FILTER words EXCLUDE REGEX "^-I")
    add_library(mpi_${family} INTERFACE)
    target_include_directories(mpi_${family} SYSTEM INTERFACE ${folders})
    # Neither MPI's old C++ names: they would have to be linked.
    target_compile_definitions(mpi_${family} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(mpi_${family} INTERFACE ${words})
    set(TOLLBAR_LAUNCH_${family} ${TOLLBAR_MPIRUN_${family}} ${ARGN} CACHE INTERNAL "")
endfunction()

tollbar_find_mpi(openmpi mpicc.openmpi mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none)
tollbar_find_mpi(mpich mpicc.mpich mpiexec.mpich)

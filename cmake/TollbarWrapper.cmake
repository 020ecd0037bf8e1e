# SPDX-License-Identifier: Apache-2.0
# What a compiler wrapper of a communication library would add, as a target.
include_guard(GLOBAL)

# tollbar_wrapper_target(mpi_openmpi mpicc.openmpi -show): makes the target, unless the wrapper has no answer to any of
# the questions, of which each library's wrapper has its own.
function(tollbar_wrapper_target target wrapper)
    if(CMAKE_CROSSCOMPILING)  # a wrapper answers for the machine that it is installed on
        return()
    endif()
    foreach(question IN LISTS ARGN)
        execute_process(COMMAND ${wrapper} ${question} OUTPUT_VARIABLE shown RESULT_VARIABLE status
                        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if(status STREQUAL "0")
            break()
        endif()
    endforeach()
    if(NOT status STREQUAL "0")
        return()
    endif()
    separate_arguments(words UNIX_COMMAND "${shown}")
    list(POP_FRONT words)
    set(folders ${words})
    list(FILTER folders INCLUDE REGEX "^-I")
    list(TRANSFORM folders REPLACE "^-I" "")
    list(FILTER words EXCLUDE REGEX "^-I")
    add_library(${target} INTERFACE)
    target_include_directories(${target} SYSTEM INTERFACE ${folders})
    # Neither MPI's old C++ names: they would have to be linked.
    target_compile_definitions(${target} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(${target} INTERFACE ${words})
endfunction()

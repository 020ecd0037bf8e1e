# SPDX-License-Identifier: Apache-2.0
# The OpenSHMEM that programs of ours are built with: the target shmem_host with what its compiler wrapper would add, and
# TOLLBAR_LAUNCH_shmem, the command that starts PEs, with UCX on the loopback as in TollbarMpi.cmake. Where none is
# installed there is neither.
# Another one than that of oshcc on the path: -DTOLLBAR_OSHCC=... -DTOLLBAR_OSHRUN=... .
include_guard(GLOBAL)
include(TollbarWrapper)

find_program(TOLLBAR_OSHCC NAMES oshcc)
find_program(TOLLBAR_OSHRUN NAMES oshrun)
if(TOLLBAR_OSHCC AND TOLLBAR_OSHRUN)
    tollbar_wrapper_target(shmem_host ${TOLLBAR_OSHCC} --showme -show)
endif()
if(NOT TARGET shmem_host)
    return()
endif()
execute_process(COMMAND ${TOLLBAR_OSHRUN} --version OUTPUT_VARIABLE shown ERROR_QUIET)
set(launch env UCX_NET_DEVICES=lo ${TOLLBAR_OSHRUN})
if(shown MATCHES "OpenRTE|Open MPI")
    list(APPEND launch --allow-run-as-root --oversubscribe --bind-to none)
endif()
set(TOLLBAR_LAUNCH_shmem ${launch} CACHE INTERNAL "")

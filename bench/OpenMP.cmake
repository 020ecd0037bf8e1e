# SPDX-License-Identifier: Apache-2.0
# The OpenMP programs: one source, compiled once for each runtime, each by the compiler that brings it. They are
# built by custom commands because a CMake project has one C++ compiler.

file(GLOB openmp_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/engine/*.hpp)
set(openmp_flags -std=c++20 -O2 -Wall -Wextra -Wpedantic -fopenmp -I${PROJECT_SOURCE_DIR}/include
    -I${CMAKE_CURRENT_SOURCE_DIR}/engine -I${CMAKE_CURRENT_SOURCE_DIR}/engine/workload
    -I${CMAKE_CURRENT_BINARY_DIR}/engine/generated)

# tollbar_openmp_program(gomp libgomp g++ g++-13 ...): the program tollbar-bench-omp-gomp, by the first compiler
# found whose OpenMP programs link; without one the program is left out and that is said.
function(tollbar_openmp_program short runtime)
    set(name tollbar-bench-omp-${short})
    find_program(TOLLBAR_${short}_COMPILER NAMES ${ARGN} DOC "C++ compiler whose -fopenmp is ${runtime}")
    set(compiler ${TOLLBAR_${short}_COMPILER})
    set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe-${short})
    file(WRITE ${probe}.cpp "#include <omp.h>\nint main() { return omp_pause_resource_all(omp_pause_soft); }\n")
    set(status "not found")
    if(compiler)
        execute_process(COMMAND ${compiler} ${openmp_flags} ${probe}.cpp -o ${probe} RESULT_VARIABLE status
                        OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(NOT status STREQUAL "0")
        message(STATUS "${name} is left out: no compiler with ${runtime}")
        return()
    endif()

    set(source ${CMAKE_CURRENT_SOURCE_DIR}/openmp.cpp)
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
    add_custom_command(
        OUTPUT ${program}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        COMMAND ${compiler} ${openmp_flags} -DTOLLBAR_OMP_RUNTIME="${runtime}" ${source} -o ${program}
                $<TARGET_FILE:tollbar_bench_engine> $<TARGET_FILE:tollbar_workload> -lpthread -ldl -lrt
        DEPENDS ${source} ${openmp_headers} tollbar_bench_engine
        COMMENT "Building ${name} with ${compiler}"
        VERBATIM)
    add_custom_target(tollbar_bench_omp_${short} ALL DEPENDS ${program})
    install(PROGRAMS ${program} DESTINATION ${TOLLBAR_PROGRAM_DIR})
    tollbar_smoke_run("${runtime} is measured like everybody else" loops ${program})
    tollbar_smoke_run("whole regions of ${runtime} are measured" loops ${program} --only ${runtime}_region)
endfunction()

if(CMAKE_CROSSCOMPILING)
    tollbar_openmp_program(gomp libgomp ${CMAKE_CXX_COMPILER})
    return()
endif()
tollbar_openmp_program(gomp libgomp g++ g++-12 g++-13 g++-14)
tollbar_openmp_program(omp libomp clang++-14 clang++ clang++-15 clang++-16 clang++-17 clang++-18 clang++-19)

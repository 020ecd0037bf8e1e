# SPDX-License-Identifier: Apache-2.0
# How every target is compiled: language level, warnings, sanitizers, and where results lie.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# What no exported function reaches is left out of every library and program.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(LINKER:--gc-sections)

# Warnings belong to our own sources only: targets made by the helpers in cmake/ link this privately.
add_library(tollbar_warnings INTERFACE)
target_compile_options(tollbar_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
if(TOLLBAR_WERROR)
    target_compile_options(tollbar_warnings INTERFACE -Werror)
endif()

if(TOLLBAR_SANITIZE)
    add_compile_options(-fsanitize=${TOLLBAR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TOLLBAR_SANITIZE})
    if(TOLLBAR_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # The thread sanitizer does not model fences. No data is published by one, only the question whether
        # somebody sleeps; the tests in tests/model check that part.
        add_compile_options(-Wno-tsan)
    endif()
endif()

# tollbar_unity(target): compiles the target's sources as one where TOLLBAR_UNITY asks for it.
function(tollbar_unity target)
    if(TOLLBAR_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
        # A file that others include looks like a header, whose anonymous names GCC warns of.
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
    endif()
endfunction()

# tollbar_precompile(target owner [headers...])
#
# Has the target include headers that are compiled once, with the owner, for all targets with the same options. Only
# in sanitized builds, which are for the tests alone: in the others every file gets what it includes and nothing else.
function(tollbar_precompile target owner)
    if(NOT TOLLBAR_SANITIZE)
        return()
    endif()
    if(target STREQUAL owner)
        list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
        target_precompile_headers(${target} PRIVATE ${ARGN})
    else()
        target_precompile_headers(${target} REUSE_FROM ${owner})
    endif()
endfunction()

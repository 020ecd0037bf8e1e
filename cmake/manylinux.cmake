# SPDX-License-Identifier: Apache-2.0
# Compiles for an older glibc and the processor that MACHINE names, in TOLLBAR_ROOT, which scripts/packages makes.
foreach(setting IN ITEMS MACHINE TOLLBAR_ROOT)
    if(DEFINED ENV{${setting}})
        set(${setting} $ENV{${setting}} CACHE STRING "")
    endif()
endforeach()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MACHINE TOLLBAR_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${MACHINE})
set(CMAKE_C_COMPILER ${TOLLBAR_ROOT}/compilers/gcc)
set(CMAKE_CXX_COMPILER ${TOLLBAR_ROOT}/compilers/g++)
foreach(tool IN ITEMS ar ranlib strip)
    string(TOUPPER ${tool} TOOL)
    find_program(CMAKE_${TOOL} NAMES ${MACHINE}-linux-gnu-${tool} REQUIRED)
endforeach()
set(CMAKE_LIBRARY_ARCHITECTURE ${MACHINE}-linux-gnu)
set(CMAKE_CXX_STANDARD_LIBRARIES "-lpthread")  # a library of its own in older ones

set(CMAKE_FIND_ROOT_PATH ${TOLLBAR_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

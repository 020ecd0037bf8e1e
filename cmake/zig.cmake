# SPDX-License-Identifier: Apache-2.0
# Compiles for glibc 2.28 with PyPI's ziglang, for the processor that MACHINE names (docs/requirements.md says what was
# tried). TOLLBAR_ZIG is its program; TOLLBAR_ROOT has the headers and libraries of libdw, in include/ and lib/.
foreach(setting IN ITEMS MACHINE TOLLBAR_ZIG TOLLBAR_ROOT)
    if(DEFINED ENV{${setting}})
        set(${setting} $ENV{${setting}} CACHE STRING "")
    endif()
endforeach()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MACHINE TOLLBAR_ZIG TOLLBAR_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${MACHINE})
set(CMAKE_C_COMPILER ${TOLLBAR_ZIG} cc -target ${MACHINE}-linux-gnu.2.28)
set(CMAKE_CXX_COMPILER ${TOLLBAR_ZIG} c++ -target ${MACHINE}-linux-gnu.2.28)
find_program(CMAKE_AR NAMES ${MACHINE}-linux-gnu-ar REQUIRED)
find_program(CMAKE_RANLIB NAMES ${MACHINE}-linux-gnu-ranlib REQUIRED)
find_program(CMAKE_STRIP NAMES ${MACHINE}-linux-gnu-strip REQUIRED)

set(CMAKE_FIND_ROOT_PATH ${TOLLBAR_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

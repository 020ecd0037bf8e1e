# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for arm64 with Debian's g++-aarch64-linux-gnu; ctest runs the programs under qemu-user-static.
# TOLLBAR_ROOT may name the root of an arm64 Debian with further libraries, such as libdw-dev.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
if(NOT SKBUILD)  # a wheel is made by this machine's Python
    find_program(TOLLBAR_EMULATOR qemu-aarch64-static)
    # What a program starts inherits the variable.
    set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/env QEMU_LD_PREFIX=/usr/aarch64-linux-gnu ${TOLLBAR_EMULATOR})
endif()

# doctest is a header for every machine, but its folder holds this machine's headers too.
set(shared ${CMAKE_BINARY_DIR}/shared/include)
file(MAKE_DIRECTORY ${shared})
file(CREATE_LINK /usr/include/doctest ${shared}/doctest SYMBOLIC)
# Debian's Python.h includes the settings of its processor; all that a module takes of them is the same on both.
file(MAKE_DIRECTORY ${shared}/aarch64-linux-gnu)
file(GLOB versions RELATIVE /usr/include/x86_64-linux-gnu /usr/include/x86_64-linux-gnu/python3*)
foreach(version IN LISTS versions)
    file(CREATE_LINK /usr/include/x86_64-linux-gnu/${version} ${shared}/aarch64-linux-gnu/${version} SYMBOLIC)
endforeach()
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${shared})

if(DEFINED ENV{TOLLBAR_ROOT})  # libraries that libdw needs lie in either
    set(root $ENV{TOLLBAR_ROOT})
    set(CMAKE_EXE_LINKER_FLAGS_INIT
        "-Wl,-rpath-link,${root}/lib/aarch64-linux-gnu:${root}/usr/lib/aarch64-linux-gnu")
endif()
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${CMAKE_BINARY_DIR}/shared $ENV{TOLLBAR_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# SPDX-License-Identifier: Apache-2.0
# Python and nanobind, for a folder that makes a module. TOLLBAR_NANOBIND says whether both are here.
find_package(Python 3.9 COMPONENTS Interpreter Development.Module)
if(Python_Interpreter_FOUND AND NOT nanobind_ROOT)
    execute_process(
        COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
        OUTPUT_VARIABLE nanobind_ROOT
        OUTPUT_STRIP_TRAILING_WHITESPACE
        ERROR_QUIET)
endif()
find_package(nanobind CONFIG QUIET NO_CMAKE_FIND_ROOT_PATH)  # sources, for every processor
set(TOLLBAR_NANOBIND FALSE)
if(Python_Development.Module_FOUND AND nanobind_FOUND)
    set(TOLLBAR_NANOBIND TRUE)
endif()

# CMake knows the target that nanobind wants for a stable ABI from 3.26 on.
if(SKBUILD_SABI_VERSION AND NOT TARGET Python::SABIModule)
    add_library(Python::SABIModule ALIAS Python::Module)
endif()

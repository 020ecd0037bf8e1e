# SPDX-License-Identifier: Apache-2.0
"""Conan's recipe: the C and C++ library and its models, of the checkout in which this file lies."""

import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy

ROOT = Path(__file__).resolve().parents[2]


class Tollbar(ConanFile):
    name = "tollbar"
    description = "Barriers between threads, processes and hosts"
    license = "Apache-2.0"
    topics = ("barrier", "synchronization", "threads", "hpc")
    settings = "os", "arch", "compiler", "build_type"
    package_type = "shared-library"  # the static ones lie beside them, under the names of tollbarConfig.cmake

    def set_version(self):
        self.version = re.search(r"VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text().partition("project(")[2])[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "src/*", "lab/*", "bench/*/workload/*"):
            copy(self, pattern, ROOT, self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "PYTHON", "DOORS"):
            toolchain.cache_variables[f"TOLLBAR_{part}"] = False
        toolchain.cache_variables["CMAKE_UNITY_BUILD"] = True  # half the time
        toolchain.cache_variables["CMAKE_INSTALL_LIBDIR"] = "lib"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, Path(self.package_folder) / "licenses")

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # CMake finds tollbarConfig.cmake, with all its targets
        self.cpp_info.builddirs = ["lib/cmake/tollbar"]
        self.cpp_info.libs = ["tollbar"]

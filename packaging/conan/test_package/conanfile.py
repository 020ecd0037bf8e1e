# SPDX-License-Identifier: Apache-2.0
"""The programs of users that tests/packaging has, which `conan create` builds against the package."""

import os
from pathlib import Path

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout

CONSUMER = Path(__file__).resolve().parents[3] / "tests" / "packaging" / "consumer"


class Consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeToolchain", "CMakeDeps"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder=CONSUMER)
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", "consumer-static", "consumer-c", "consumer-models"):
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")

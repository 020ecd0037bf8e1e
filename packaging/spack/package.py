# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe: packages/tollbar/package.py of a repository of packages, with an address in `git`."""

from spack.package import *


class Tollbar(CMakePackage):
    """Barriers between threads, processes and hosts, the command that proves, prices and measures them, and
    what serves the barriers of MPI, OpenSHMEM, OpenMP and pthread programs."""

    homepage = "https://tollbar.example"
    git = "https://tollbar.example/tollbar.git"

    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("mpi", default=True, description="Serve MPI_Barrier, and build the barrier between threads of all ranks")
    variant("shmem", default=False, description="Build the split barrier for OpenSHMEM")
    variant("nic", default=False, description="Build the daemon and the programs of network cards")
    variant("python", default=True, description="Build the command and the Python module")

    conflicts("platform=darwin")
    conflicts("%gcc@:11")
    conflicts("+shmem", when="~mpi", msg="the OpenSHMEM here is Open MPI's")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("elfutils")
    depends_on("hwloc")
    depends_on("mpi", when="+mpi")
    depends_on("openmpi@4: +openshmem", when="+shmem")
    depends_on("libbpf", when="+nic")
    depends_on("llvm@14: +clang targets=bpf", type="build", when="+nic")
    depends_on("python@3.11:", type=("build", "run"), when="+python")
    depends_on("py-nanobind@2:", type="build", when="+python")
    depends_on("py-shtab@1.5:", type=("build", "run"), when="+python")

    extends("python", when="+python")

    def cmake_args(self):
        spec = self.spec
        mpi = spec["mpi"].name if "+mpi" in spec else ""
        compilers = {"openmpi": "openmpi" in mpi, "mpich": "mpich" in mpi or "oneapi" in mpi}
        args = [self.define("TOLLBAR_TESTS", False), self.define_from_variant("TOLLBAR_PYTHON", "python")]
        for family, chosen in compilers.items():  # OFF: not looked for
            args.append(self.define(f"TOLLBAR_MPICC_{family}", spec["mpi"].mpicc if chosen else "OFF"))
        if "+shmem" not in spec:
            args.append(self.define("TOLLBAR_OSHCC", "OFF"))
        if "+nic" not in spec:
            args.append(self.define("TOLLBAR_BPF_CLANG", "OFF"))
        return args

    @run_after("install", when="+python")
    def install_module(self):
        module = join_path(python_platlib, "tollbar")
        install_tree("python/tollbar", module)
        laboratory = join_path(python_platlib, "tollbar_lab")
        install_tree("lab/python/tollbar_lab", laboratory)
        python("scripts/lab_metadata.py", python_platlib)
        for folder, package in (("python/native", module), ("lab/native", laboratory)):
            for file in find(join_path(self.build_directory, folder), ["_native*.so", "_native.pyi"], recursive=False):
                install(file, package)
        symlink(self.prefix.libexec.tollbar, join_path(module, "libexec"))
        symlink(find_libraries("libtollbar", self.prefix, recursive=True).directories[0], join_path(module, "lib"))
        install("python/command/tollbar", join_path(self.prefix.bin, "tollbar"))

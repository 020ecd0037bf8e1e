# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench shmem`: post and wait, and the exchange, with how many PEs."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

from tollbar.campaigns import mpi_settings
from tollbar.campaigns.campaign import Campaign, NotHere, Request
from tollbar.machine import paths

#: Name of a stored launch, and the program.
PROGRAMS = {"barriers": "tollbar-bench-shmem", "exchange": "tollbar-bench-dsde"}
LAUNCHER = "oshrun"
#: Barriers that have a name and are no plan.
NAMES = ("default", "one-shot", "counter", "MPI_Ibarrier", "shmem_barrier_all", "MPI NBX")
AWAY_PES, AWAY_MS = 4, 50
OVERLAP_PES, SKEW_US = 8, 100


def why_not() -> str | None:
    """Why nothing can be measured here; None where it can."""
    for program in PROGRAMS.values():
        try:
            paths.program(program)
        except FileNotFoundError as error:
            return f"{error} (where Debian's libopenmpi-dev is not installed it is not built)"
    if shutil.which(LAUNCHER) is None:
        return f"there is no {LAUNCHER} here; `scripts/setup` installs one (openmpi-bin)"
    return None


def launcher(pes: int) -> list[str]:
    """How so many PEs are started on this machine, which has perhaps fewer processors."""
    return [LAUNCHER, *mpi_settings.anywhere(), "-n", str(pes)]


def names() -> tuple[str, ...]:
    """The barriers that can be measured, besides every plan."""
    return NAMES


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Pes, list[str]]]:
    """The work. Raises NotHere that says why nothing can be measured here."""
    if why := why_not():
        raise NotHere(f"OpenSHMEM is not measured: {why}")
    yield Pes(request), []


class Pes(Campaign):
    """A situation is a number of PEs."""

    kind = "shmem"

    @property
    def situations(self) -> list[int]:
        return list(self.request.ranks)

    def facts(self) -> dict[str, Any]:
        return {"iterations": self.request.iterations}

    def say(self, situation: int) -> str:
        return f"{situation} PEs"

    def programs(self, situation: int) -> list[str]:
        return list(PROGRAMS)

    def command(self, program: str, situation: int, rounds: int, seed: int) -> list[str]:
        command = [*launcher(situation), str(paths.program(PROGRAMS[program]))]
        command += ["--rounds", str(rounds), "--seed", str(seed)]
        command += ["--placement", "pinned" if situation <= 2 else "free"]
        if program == "exchange":
            command += ["--iterations", str(self.request.iterations)]
        else:
            command += ["--away-ms", str(AWAY_MS if situation == AWAY_PES else 0)]
            command += ["--skew-us", str(SKEW_US if situation == OVERLAP_PES else 0), *self.counted()]
        return [*command, "--only", ",".join(self.request.only)] if self.request.only else command

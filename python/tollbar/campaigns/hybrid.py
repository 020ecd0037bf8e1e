# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench hybrid` measures: threads inside the ranks of an MPI job, on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings, mpi_tuning, passes
from tollbar.campaigns.passes import Outcome, Report, Start
from tollbar.machine import paths
from tollbar.machine.mpis import Mpi
from tollbar.machine.session import Session

#: What users write themselves.
PEERS = ("omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier")
#: Without --full: the two that the paper names, the same among words only, and trees at both levels.
FEW = ("turnstile/dissemination", "turnstile/mcs", "turnstile/turnstile", "mcs/mcs")
#: MPICH's ranks spin: with more than that it takes seconds to have anything measured.
MOST_SPINNING = 4
LEVELS = ("funneled", "serialized", "multiple")

_LIMIT_S = 100
_FOREIGN = ("TOLLBAR_", "LD_PRELOAD", "OMP_", "GOMP_", "OMPI_", "PMIX_", "MPIR_", "MPICH_", "HYDRA_", "UCX_")


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    mpi: Mpi
    ranks: int
    threads: int


@dataclass(frozen=True)
class Settings:
    """What to measure, how often, and for how long at most."""

    ranks: Sequence[int]
    threads: Sequence[int]
    mpis: Sequence[str]  #: openmpi, mpich; empty: both, MPICH with few ranks only
    launches: int
    rounds: int
    budget_s: float
    only: Sequence[str] = ()
    full: bool = False
    level: str = "serialized"
    seed: int = 1


def prepare(settings: Settings) -> tuple[Threads, list[str]]:
    """The work, and a note for each MPI that cannot be had. Raises FileNotFoundError when none can."""
    programs: dict[Mpi, Path] = {}
    notes = []
    for mpi in mpi_campaign.chosen(settings.mpis, True):
        name = mpi_settings.program_of(mpi).replace("bench-mpi", "bench-hybrid")
        if name.endswith("5"):
            if settings.mpis:
                notes.append(f"{mpi.name} is not measured: threads inside its ranks have no program")
            continue
        try:
            programs[mpi] = paths.program(name)
        except FileNotFoundError as error:
            notes.append(f"{mpi.name} is not measured: {error}")
    if not programs:
        raise FileNotFoundError(notes[0] if notes else "there is no MPI here; `scripts/setup` installs some")
    return Threads(settings, programs), notes


def measure(settings: Settings, within: Path, report: Report) -> Outcome:
    """Runs a whole campaign and stores it in a new folder in `within`."""
    work, notes = prepare(settings)
    return passes.measure(work, notes, within, report)


class Threads:
    """The work of a campaign; see passes.Work."""

    kind = "hybrid"

    def __init__(self, settings: Settings, programs: dict[Mpi, Path]) -> None:
        self._asked, self._programs = settings, programs
        self.seed, self.launches = settings.seed, settings.launches
        self.rounds, self.budget_s = settings.rounds, settings.budget_s
        self._tuning = Path("tuning")

    @property
    def situations(self) -> list[Where]:
        return [
            Where(mpi, ranks, threads)
            for mpi in self._programs
            for ranks in self._asked.ranks
            for threads in self._asked.threads
            if mpi.family == "openmpi" or bool(self._asked.mpis) or max(ranks, threads) <= MOST_SPINNING
        ]

    def facts(self) -> dict[str, Any]:
        return {
            "ranks": list(self._asked.ranks),
            "threads": list(self._asked.threads),
            "mpis": {mpi.name: str(mpi.launcher) for mpi in self._programs},
            "only": list(self._asked.only),
            "full": self._asked.full,
            "level": self._asked.level,
        }

    def say(self, situation: Where) -> str:
        return f"{situation.mpi.name}, {situation.ranks} ranks of {situation.threads} threads"

    def programs(self, situation: Where) -> list[str]:
        return [f"{situation.mpi.family}-{situation.mpi.version}.threads"]

    def turns(self, program: str, situation: Where, rounds: int) -> int:
        return rounds

    def prepare(self, folder: Path, session: Session) -> None:
        self._tuning = folder / "tuning"

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        started = mpi_tuning.launcher(situation.mpi, situation.ranks)
        command = ["timeout", "-k", "5", str(_LIMIT_S), *started, str(self._programs[situation.mpi])]
        command += ["--threads", str(situation.threads), "--level", self._asked.level]
        command += ["--rounds", str(rounds), "--seed", str(seed), "--placement", "free"]
        if not self._asked.full:
            command += ["--only", ",".join([*PEERS, *(self._asked.only or FEW)])]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return Start(command, environment | {"TOLLBAR_TUNING": str(self._tuning.absolute())})

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench --workload` measures: ranks that compute between barriers, as threads or in an MPI job.

A transport plugs in with a program on the measuring engine (bench/threads/rounds.hpp), which then takes
--workload, and with the words that start it: a class with the members of OverThreads.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tollbar import campaign, mpi_settings, mpi_tuning, passes, paths
from tollbar.mpis import Mpi
from tollbar.passes import Outcome, Report, Start
from tollbar.session import Session

#: The workloads of Buntinas et al., sections 4.3 (fine loops), 4.4 (varying arrival) and 4.5 (applications).
FINE = ("0", "1.5", "4.5", "8.25", "17.25", "33.75", "64.5", "129.75")
VARYING = tuple(
    f"{us}{share}" for us in (64, 256, 1024, 4096) for share in ("", "~0.05", "~0.1", "~0.2", "~0.5")
)
APPLICATIONS = ("360us", "2100us", "9450us")
WORKLOADS = (*FINE, *VARYING, *APPLICATIONS)
QUICK = ("0", "1.5", "17.25", "64.5", "129.75", "64~0.2", "1024~0.2", *APPLICATIONS)


_FOREIGN = (
    "TOLLBAR_", "LD_PRELOAD", "OMP_", "GOMP_", "KMP_", "OMPI_", "PMIX_", "PRTE_", "MPIR_", "MPICH_", "HYDRA_",
    "I_MPI_", "UCX_",
)  # fmt: skip


class Over(Protocol):
    """What the barriers run over."""

    name: str
    placements: tuple[str, ...]
    only: tuple[str, ...]  #: what is measured unless names are given

    def command(self, ranks: int) -> list[str]:
        """Starts the measuring program with so many ranks."""

    def environment(self, tuning: Path) -> dict[str, str]:
        """What it must be told besides; nothing of the user's that tunes a candidate is left."""


class OverThreads:
    """Ranks are threads of one process."""

    name = "threads"
    placements: tuple[str, ...] = ("pinned",)
    only = ("tollbar::barrier", "dissemination+auto", "std::barrier", "pthread_barrier")

    def __init__(self) -> None:
        self._program = paths.program(campaign.MAIN)

    def command(self, ranks: int) -> list[str]:
        return [str(self._program), "--ranks", str(ranks)]

    def environment(self, tuning: Path) -> dict[str, str]:
        return {"TOLLBAR_TUNING": str(tuning)}


class OverMpi:
    """Ranks are the processes of a job on this machine."""

    placements: tuple[str, ...] = ("free",)
    only = ("MPI_Barrier", "dissemination+messages", "dissemination+words")

    def __init__(self, mpi: Mpi) -> None:
        self.name = mpi.name
        self._mpi = mpi
        self._program = paths.program(mpi_settings.program_of(mpi))

    def command(self, ranks: int) -> list[str]:
        return [*mpi_tuning.launcher(self._mpi, ranks), str(self._program)]

    def environment(self, tuning: Path) -> dict[str, str]:
        return {"TOLLBAR_TUNING": str(tuning)}


class Where(NamedTuple):
    over: str
    placement: str
    ranks: int


@dataclass(frozen=True)
class Settings:
    ranks: Sequence[int]
    workloads: Sequence[str]
    launches: int
    rounds: int
    budget_s: float
    only: Sequence[str] = ()
    placements: Sequence[str] = ()
    seed: int = 1


def measure(settings: Settings, over: Sequence[Over], within: Path, report: Report) -> Outcome:
    """Runs a whole campaign and stores it in a new folder in `within`."""
    return passes.measure(Working(settings, {each.name: each for each in over}), [], within, report)


class Working:
    """The work of a campaign; see passes.Work."""

    kind = "work"

    def __init__(self, settings: Settings, over: Mapping[str, Over]) -> None:
        self._asked, self._over = settings, over
        self.seed, self.launches = settings.seed, settings.launches
        self.rounds, self.budget_s = settings.rounds, settings.budget_s
        self._tuning = Path("tuning")

    @property
    def situations(self) -> list[Where]:
        return [
            Where(name, placement, ranks)
            for name, each in self._over.items()
            for placement in self._asked.placements or each.placements
            for ranks in self._asked.ranks
        ]

    def facts(self) -> dict[str, Any]:
        return {
            "over": list(self._over),
            "ranks": list(self._asked.ranks),
            "workloads": list(self._asked.workloads),
            "only": list(self._asked.only),
        }

    def say(self, situation: Where) -> str:
        return f"{situation.ranks} ranks over {situation.over}, {situation.placement}"

    def programs(self, situation: Where) -> list[str]:
        return [situation.over.replace(" ", "-")]

    def turns(self, program: str, situation: Where, rounds: int) -> int:
        return rounds

    def prepare(self, folder: Path, session: Session) -> None:
        self._tuning = (folder / "tuning").absolute()

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        over = self._over[situation.over]
        # A launcher that is asked to end takes its ranks with it.
        command = ["timeout", "-k", "5", "110", *over.command(situation.ranks)]
        command += ["--placement", situation.placement, "--rounds", str(rounds), "--seed", str(seed)]
        command += ["--only", ",".join(self._asked.only or over.only)]
        command += ["--workload", ",".join(self._asked.workloads)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return Start(command, kept | over.environment(self._tuning))

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench --workload` measures: ranks that compute between barriers, over what work_over has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import passes
from tollbar.campaigns.passes import Outcome, Report, Start
from tollbar.campaigns.work_over import Over
from tollbar.machine.session import Session

#: The workloads of Buntinas et al., sections 4.3 (fine loops), 4.4 (varying arrival) and 4.5 (applications).
FINE = ("0", "1.5", "4.5", "8.25", "17.25", "33.75", "64.5", "129.75")
VARYING = tuple(
    f"{us}{share}" for us in (64, 256, 1024, 4096) for share in ("", "~0.05", "~0.1", "~0.2", "~0.5")
)
APPLICATIONS = ("360us", "2100us", "9450us")
WORKLOADS = (*FINE, *VARYING, *APPLICATIONS)
#: Enough of them for every figure.
QUICK = (
    "0", "1.5", "17.25", "64.5", "129.75",
    *(f"{us}{share}" for us in (64, 256, 1024, 4096) for share in ("", "~0.1", "~0.2")), *APPLICATIONS,
)  # fmt: skip

#: So long a launch may take, by how much is computed in a batch.
_LIMIT_S, _FULL_LIMIT_S = 110, 7200
_FOREIGN = (
    "TOLLBAR_", "LD_PRELOAD", "OMP_", "GOMP_", "KMP_", "OMPI_", "PMIX_", "PRTE_", "MPIR_", "MPICH_", "HYDRA_",
    "I_MPI_", "UCX_", "SHMEM_", "SMA_",
)  # fmt: skip


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
    batch_us: int | None = None  #: of computing, timed at once, up to 10,000 runs; None: the program's own
    full: bool = False  #: a launch may take hours
    seed: int = 1


def measure(
    settings: Settings, over: Sequence[Over], notes: Sequence[str], within: Path, report: Report
) -> Outcome:
    """Runs a whole campaign and stores it in a new folder in `within`."""
    return passes.measure(Working(settings, over), notes, within, report)


class Working:
    """The work of a campaign; see passes.Work."""

    kind = "work"

    def __init__(self, settings: Settings, over: Sequence[Over]) -> None:
        self._asked, self._over = settings, over
        self.seed, self.launches = settings.seed, settings.launches
        self.rounds, self.budget_s = settings.rounds, settings.budget_s
        self._tuning = Path("tuning")

    @property
    def situations(self) -> list[Where]:
        return list(
            dict.fromkeys(
                Where(each.name, placement, ranks)
                for each in self._over
                for ranks in self._asked.ranks
                for placement in self._asked.placements or each.placements(ranks)
            )
        )

    def facts(self) -> dict[str, Any]:
        over = list(dict.fromkeys(each.name for each in self._over))
        return {
            "over": over,
            "hosts": max(self._asked.ranks) if "hosts" in over else 1,
            "ranks": list(self._asked.ranks),
            "workloads": list(self._asked.workloads),
            "only": list(self._asked.only),
            "full": self._asked.full,
        }

    def say(self, situation: Where) -> str:
        return f"{situation.ranks} ranks over {situation.over}, {situation.placement}"

    def programs(self, situation: Where) -> list[str]:
        return [each.program for each in self._over if each.name == situation.over]

    def turns(self, program: str, situation: Where, rounds: int) -> int:
        return rounds

    def prepare(self, folder: Path, session: Session) -> None:
        self._tuning = (folder / "tuning").absolute()

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        over = next(each for each in self._over if (each.name, each.program) == (situation.over, program))
        limit_s = _FULL_LIMIT_S if self._asked.full else _LIMIT_S
        # A launcher that is asked to end takes its ranks with it.
        command = ["timeout", "-k", "5", str(limit_s), *over.command(situation.ranks)]
        command += ["--placement", situation.placement, "--rounds", str(rounds), "--seed", str(seed)]
        command += ["--only", ",".join(over.only(self._asked.only))]
        command += ["--workload", ",".join(self._asked.workloads)]
        if self._asked.batch_us:
            command += ["--batch-us", str(self._asked.batch_us)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return Start(command, kept | {"TOLLBAR_TUNING": str(self._tuning)}, limit_s + 10)

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench shmem` measures: post and wait, and the exchange, with how many PEs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollbar.campaigns import passes
from tollbar.campaigns.passes import Outcome, Report, Start
from tollbar.machine import paths
from tollbar.machine.session import Session

#: Name of a stored launch, and the program.
PROGRAMS = {"barriers": "tollbar-bench-shmem", "exchange": "tollbar-bench-dsde"}
LAUNCHER = "oshrun"
AWAY_PES, AWAY_MS = 4, 50
OVERLAP_PES, SKEW_US = 8, 100

_LIMIT_S = 110
_FOREIGN = ("TOLLBAR_", "LD_PRELOAD", "OMPI_", "PMIX_", "PRTE_", "UCX_", "SHMEM_", "SMA_")


@dataclass(frozen=True)
class Settings:
    """What to measure, how often, and for how long at most."""

    pes: Sequence[int]
    launches: int
    rounds: int
    budget_s: float
    iterations: int  #: of the exchange
    only: Sequence[str] = ()  #: names of barriers, as the programs' --only
    seed: int = 1


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
    as_root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [LAUNCHER, "--oversubscribe", "--bind-to", "none", *as_root, "-n", str(pes)]


def measure(settings: Settings, within: Path, report: Report) -> Outcome:
    """Does all of the work and stores it in a new folder in `within`. Ask why_not() before."""
    return passes.measure(Pes(settings), (), within, report)


class Pes:
    """The work of a campaign; see passes.Work. A situation is a number of PEs."""

    kind = "shmem"

    def __init__(self, settings: Settings) -> None:
        self._asked = settings
        self.seed, self.launches = settings.seed, settings.launches
        self.rounds, self.budget_s = settings.rounds, settings.budget_s
        self._tuning = Path("tuning")

    @property
    def situations(self) -> list[int]:
        return list(self._asked.pes)

    def facts(self) -> dict[str, Any]:
        return {
            "pes": list(self._asked.pes),
            "iterations": self._asked.iterations,
            "only": list(self._asked.only),
        }

    def say(self, situation: int) -> str:
        return f"{situation} PEs"

    def programs(self, situation: int) -> list[str]:
        return list(PROGRAMS)

    def turns(self, program: str, situation: int, rounds: int) -> int:
        return rounds

    def prepare(self, folder: Path, session: Session) -> None:
        self._tuning = folder / "tuning"

    def start(self, program: str, situation: int, rounds: int, seed: int) -> Start:
        # A launcher that is asked to end takes its PEs with it; one that is killed may leave them.
        command = ["timeout", "-k", "5", str(_LIMIT_S), *launcher(situation)]
        command += [str(paths.program(PROGRAMS[program]))]
        command += ["--rounds", str(rounds), "--seed", str(seed)]
        command += ["--placement", "pinned" if situation <= 2 else "free"]
        if program == "exchange":
            command += ["--iterations", str(self._asked.iterations)]
        else:
            command += ["--away-ms", str(AWAY_MS if situation == AWAY_PES else 0)]
            command += ["--skew-us", str(SKEW_US if situation == OVERLAP_PES else 0)]
        if self._asked.only:
            command += ["--only", ",".join(self._asked.only)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return Start(command, environment | {"TOLLBAR_TUNING": str(self._tuning.absolute())})

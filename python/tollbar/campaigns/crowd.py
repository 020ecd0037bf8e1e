# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench crowd` measures: threads that compute between barriers, on some of the processors.

After Markatos et al. 1991: the fewer processors a program has left, and the less it computes between two
barriers, the more its way of waiting counts.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import passes
from tollbar.campaigns.passes import Outcome, Report, Start
from tollbar.machine import paths
from tollbar.machine.session import Session

PROGRAM = "tollbar-bench-crowd"
#: A launch stops visiting barriers after that long, so that it ends within the limit of a launch.
_LAUNCH_S = 80.0
_FOREIGN = ("TOLLBAR_", "OMP_", "GOMP_", "KMP_")


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    ranks: int
    processors: int
    compute_us: float
    variation: float

    @property
    def alone_us(self) -> float:
        """What an episode takes when only the computing counts: turns of the processor with most threads."""
        return -(-self.ranks // self.processors) * self.compute_us

    @property
    def workload(self) -> str:
        return f"{self.compute_us:g}~{self.variation:g}" if self.variation else f"{self.compute_us:g}"


@dataclass(frozen=True)
class Settings:
    """What to measure, how often, and for how long at most."""

    ranks: Sequence[int]
    processors: Sequence[int]
    compute_us: Sequence[float]
    variations: Sequence[float]
    launches: int
    budget_s: float
    longest_ms: float  #: situations in which the computing of an episode takes longer are left out
    only: Sequence[str] = ()
    spinners: bool = True
    seed: int = 1

    @property
    def wanted(self) -> list[Where]:
        """All combinations that are crowded."""
        return [
            Where(ranks, processors, compute_us, variation)
            for ranks in self.ranks
            for processors in self.processors
            for compute_us in self.compute_us
            for variation in self.variations
            if ranks > processors
        ]

    @property
    def situations(self) -> list[Where]:
        return [each for each in self.wanted if each.alone_us <= 1e3 * self.longest_ms]


def measure(settings: Settings, within: Path, report: Report) -> Outcome:
    """Runs a whole campaign and stores it in a new folder in `within`."""
    notes = []
    if left_out := len(settings.wanted) - len(settings.situations):
        notes.append(
            f"{left_out} of {len(settings.wanted)} situations are left out: computing alone would take more "
            f"than {settings.longest_ms:g} ms an episode"
        )
    return passes.measure(Crowds(settings, paths.program(PROGRAM)), notes, within, report)


class Crowds:
    """The work of a campaign; see passes.Work."""

    kind = "crowd"
    rounds = 1  # an episode may take seconds: what varies is seen between launches

    def __init__(self, settings: Settings, program: Path) -> None:
        self._settings, self._program = settings, program
        self.seed, self.launches, self.budget_s = settings.seed, settings.launches, settings.budget_s
        self._usable = sorted(os.sched_getaffinity(0))

    @property
    def situations(self) -> list[Where]:
        return self._settings.situations

    def facts(self) -> dict[str, Any]:
        return {
            "ranks": list(self._settings.ranks),
            "processors": list(self._settings.processors),
            "compute_us": list(self._settings.compute_us),
            "variations": list(self._settings.variations),
            "only": list(self._settings.only),
        }

    def say(self, situation: Where) -> str:
        ranks, processors, _, _ = situation
        return f"{ranks} threads on {processors}, {situation.workload} µs between barriers"

    def programs(self, situation: Where) -> list[str]:
        return [PROGRAM]

    def turns(self, program: str, situation: Where, rounds: int) -> int:
        return rounds

    def prepare(self, folder: Path, session: Session) -> None:
        """Nothing is needed."""

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        # The mask is what a smaller machine looks like: the library judges by it how crowded it is.
        mask = ",".join(map(str, self._usable[: situation.processors]))
        command = ["taskset", "-c", mask, str(self._program), "--ranks", str(situation.ranks)]
        command += ["--placement", "pinned", "--rounds", str(rounds), "--seed", str(seed)]
        command += ["--workload", situation.workload, "--budget-ms", f"{1e3 * _LAUNCH_S:.0f}"]
        command += [] if self._settings.spinners else ["--quick"]
        command += ["--only", ",".join(self._settings.only)] if self._settings.only else []
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        return Start(command, environment)

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench threads` measures: which programs, with which flags, in which situations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollbar.campaigns import passes
from tollbar.campaigns.passes import Outcome, Report, Start
from tollbar.data.comparison import Situation
from tollbar.machine import paths
from tollbar.machine.session import Session

MAIN = "tollbar-bench-threads"
#: The programs whose runtime fills a process, and the name of the barrier that each of them measures.
PEERS = {"tollbar-bench-omp-gomp": "libgomp", "tollbar-bench-omp-omp": "libomp"}


@dataclass(frozen=True)
class Single:
    """A program that measures one thing: the situations it belongs to, and the rounds that are enough."""

    situations: tuple[Situation, ...]
    most_rounds: int
    what: str


SINGLES = {
    "tollbar-bench-processes": Single(
        tuple(Situation("free", ranks) for ranks in (4, 8, 16)), 2, "a barrier between processes"
    ),
    "tollbar-bench-idle": Single((Situation("free", 64),), 1, "the cost of a long wait"),
    "tollbar-bench-unused": Single((Situation("pinned", 2),), 4, "the cost of features nobody uses"),
}

#: With more threads than this only what may be close is measured, unless names were asked for.
MANY = 32
FEW = (
    "tollbar::barrier",
    "turnstile+auto",
    "turnstile+park",
    "combination+auto",
    "std::barrier",
    "pthread_barrier",
)
_ROUNDS_OF_MANY = 2
_FOREIGN = ("TOLLBAR_", "OMP_", "GOMP_", "KMP_", "LIBOMP_")


@dataclass(frozen=True)
class Settings:
    """What to measure, how often, and for how long at most."""

    ranks: Sequence[int]
    placements: Sequence[str]
    launches: int
    rounds: int
    budget_s: float
    only: Sequence[str] = ()
    seed: int = 1
    spinners: bool = False  #: also what never gives its processor away, where threads share processors

    @property
    def situations(self) -> list[Situation]:
        return [Situation(placement, ranks) for placement in self.placements for ranks in self.ranks]


def programs(only: Sequence[str]) -> tuple[dict[str, Path], list[str]]:
    """The programs to run, and a note for each that is not there; FileNotFoundError without the main one."""
    wanted = [MAIN] if not only or set(only) - set(PEERS.values()) else []
    wanted += [program for program, name in PEERS.items() if not only or name in only]
    wanted += [] if only else SINGLES
    found, notes = {}, []
    for name in wanted:
        try:
            found[name] = paths.program(name)
        except FileNotFoundError as error:
            if name == MAIN:
                raise
            what = PEERS[name] if name in PEERS else SINGLES[name].what
            notes.append(f"{what} is not measured: {error}")
    return found, notes


def measure(settings: Settings, within: Path, report: Report) -> Outcome:
    """Runs a whole campaign and stores it in a new folder in `within`."""
    runnable, notes = programs(settings.only)
    return passes.measure(Threads(settings, runnable), notes, within, report)


class Threads:
    """The work of a campaign; see passes.Work."""

    kind = "threads"

    def __init__(self, settings: Settings, runnable: Mapping[str, Path]) -> None:
        self._settings, self._runnable = settings, runnable
        self.seed, self.launches = settings.seed, settings.launches
        self.rounds, self.budget_s = settings.rounds, settings.budget_s

    @property
    def situations(self) -> list[Situation]:
        return self._settings.situations

    def facts(self) -> dict[str, Any]:
        return {
            "ranks": list(self._settings.ranks),
            "placements": list(self._settings.placements),
            "only": list(self._settings.only),
            "spinners": self._settings.spinners,
        }

    def say(self, situation: Situation) -> str:
        return f"{situation.ranks} threads, {situation.placement}"

    def programs(self, situation: Situation) -> list[str]:
        return [name for name in self._runnable if _belongs(name, situation, self._settings)]

    def turns(self, program: str, situation: Situation, rounds: int) -> int:
        return _rounds(program, situation, rounds)

    def prepare(self, folder: Path, session: Session) -> None:
        """Nothing is needed."""

    def start(self, program: str, situation: Situation, rounds: int, seed: int) -> Start:
        path = self._runnable[program]
        return Start(_command(path, program, situation, rounds, seed, self._settings), _environment())


def _belongs(program: str, situation: Situation, settings: Settings) -> bool:
    """Whether that program has something to measure there."""
    if program in SINGLES:
        return situation in SINGLES[program].situations
    if program in PEERS and situation.ranks > MANY and not settings.only:
        return situation.placement == "free"
    return True


def _rounds(program: str, situation: Situation, rounds: int) -> int:
    if program in SINGLES:
        return min(rounds, SINGLES[program].most_rounds)
    return min(rounds, _ROUNDS_OF_MANY) if situation.ranks > MANY else rounds


def _command(
    path: Path, name: str, situation: Situation, rounds: int, seed: int, settings: Settings
) -> list[str]:
    command = [str(path), "--ranks", str(situation.ranks), "--placement", situation.placement]
    command += ["--rounds", str(rounds), "--seed", str(seed)]
    if name == MAIN and not settings.spinners:
        command.append("--quick")
    if name == MAIN and settings.spinners:
        share = settings.budget_s / settings.launches / len(settings.situations)
        command += ["--budget-ms", f"{1e3 * share:.0f}"]
    if name == MAIN and settings.only:
        command += ["--only", ",".join(each for each in settings.only if each not in PEERS.values())]
    elif name == MAIN and situation.ranks > MANY:
        command += ["--only", ",".join(FEW)]
    return command


def _environment() -> dict[str, str]:
    """Everything is measured as it comes: no variable of this user's may tune one of the candidates."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}

# SPDX-License-Identifier: Apache-2.0
"""Runs the measuring programs: every situation in each of several shuffled passes; keeps their output.

A pass launches each program once in each situation. Programs of one situation follow each other at once, in
one session, so that what is compared has met the same machine.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tollbar import machine, paths, records, results
from tollbar.comparison import Situation
from tollbar.session import Finished, Session

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
_FIRST_ROUNDS = 2
_LIMIT_S = 120.0
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


@dataclass
class Outcome:
    """Where the run is stored, how many passes were whole, and what could not be had."""

    folder: Path
    passes: int = 0
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unsafe: bool = False  #: somebody left an episode before everybody had entered it


#: Called after each situation with: situations done, situations in all, the next thing to be done, in words.
Report = Callable[[int, int, str], None]


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
    chance = random.Random(settings.seed)
    known = machine.facts()
    outcome = Outcome(results.new_run(within, "threads"), notes=notes)
    with tempfile.TemporaryDirectory() as scratch, Session(Path(scratch)) as session:
        known |= _settings_facts(settings) | {"session": session.autogroup}
        results.write_environment(outcome.folder, known)
        _run_passes(settings, session, runnable, chance, outcome, report)
    known |= {
        "load_after": list(os.getloadavg()),
        "passes": outcome.passes,
        "notes": outcome.notes,
        "failures": outcome.failures,
    }
    results.write_environment(outcome.folder, known)
    return outcome


def _settings_facts(settings: Settings) -> dict[str, Any]:
    return {
        "kind": "threads",
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seed": settings.seed,
        "ranks": list(settings.ranks),
        "placements": list(settings.placements),
        "launches": settings.launches,
        "rounds": settings.rounds,
        "budget_s": settings.budget_s,
        "only": list(settings.only),
        "spinners": settings.spinners,
    }


def _run_passes(
    settings: Settings, session: Session, runnable: dict[str, Path], chance: random.Random, outcome: Outcome,
    report: Report,
) -> None:  # fmt: skip
    """Stops before a situation that would not end within the budget; the first pass is always whole."""
    began, total = time.monotonic(), settings.launches * len(settings.situations)
    pace = _Pace(settings)
    rounds, group = min(settings.rounds, _FIRST_ROUNDS), 0
    for number in range(settings.launches):
        order = settings.situations
        chance.shuffle(order)
        for situation in order:
            left = settings.budget_s - (time.monotonic() - began)
            if number and pace.seconds(situation, rounds) > left:
                outcome.notes.append(
                    f"the budget of {settings.budget_s:.0f} s ended after {number} whole passes"
                )
                return
            where = (
                f"{situation.ranks} threads, {situation.placement}, pass {number + 1} of {settings.launches}"
            )
            report(group, total, where)
            names = [name for name in runnable if _belongs(name, situation, settings)]
            chance.shuffle(names)
            for name in names:
                turns = _rounds(name, situation, rounds)
                command = _command(runnable[name], name, situation, turns, chance.getrandbits(31), settings)
                finished = session.run(command, _LIMIT_S, _environment())
                pace.note(situation, name, finished.seconds / turns)
                _keep(outcome, finished, group, name, where)
            group += 1
        outcome.passes = number + 1
        passes_left = settings.launches - outcome.passes
        if passes_left:
            left = settings.budget_s - (time.monotonic() - began)
            rounds = pace.affordable(left / passes_left)
    report(group, total, "done")


class _Pace:
    """How long a round of each program took last in each situation."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._per_round: dict[Situation, dict[str, float]] = {}

    def note(self, situation: Situation, program: str, seconds_a_round: float) -> None:
        self._per_round.setdefault(situation, {})[program] = seconds_a_round

    def seconds(self, situation: Situation, rounds: int) -> float:
        known = self._per_round.get(situation, {})
        return sum(each * _rounds(name, situation, rounds) for name, each in known.items())

    def affordable(self, seconds: float) -> int:
        """The most rounds with which a pass takes no longer than that; at least one."""
        for rounds in range(self._settings.rounds, 1, -1):
            if sum(self.seconds(situation, rounds) for situation in self._per_round) <= seconds:
                return rounds
        return 1


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


def _keep(outcome: Outcome, finished: Finished, group: int, program: str, where: str) -> None:
    """Stores a whole launch. One that failed is noted, and the others go on."""
    if finished.exit_code == 0:
        try:
            records.parse_launch(finished.output.splitlines(), f"the output of {program}")
        except records.MalformedRecord as error:
            outcome.failures.append(f"{where}: {error}")
            return
        results.write_launch(outcome.folder, group, program, finished.output)
        return
    if early := [line for line in finished.output.splitlines() if '"record":"violation"' in line]:
        outcome.unsafe = True
        outcome.failures.append(f"{where}: {program}: NOT A BARRIER, {early[0]}")
        return
    why = "ran past its time limit" if finished.exit_code is None else f"ended with {finished.exit_code}"
    last = finished.errors.strip().splitlines()[-1:] or [""]
    outcome.failures.append(f"{where}: {program} {why}{': ' if last[0] else ''}{last[0]}")

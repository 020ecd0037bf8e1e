# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench threads`: which programs, with which flags, in which situations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tollbar import _native
from tollbar.campaigns.campaign import Campaign, Request, Start, listed
from tollbar.machine import cpus, doors, paths

MAIN = "tollbar-bench-threads"
#: The programs whose runtime fills a process, and the name of the barrier that each of them measures.
PEERS = {"tollbar-bench-omp-gomp": "libgomp", "tollbar-bench-omp-omp": "libomp"}
#: The names that each of them measures: its barrier alone unless others are asked for, such as the end of its static
#: loop; with the preload for OpenMP; and whole regions, whose master takes a launch of its own.
OF_RUNTIME = {
    f"{program}{preload}{whole}": tuple(f"{runtime}{part}{door}" for part in parts)
    for program, runtime in PEERS.items()
    for preload, door in (("", ""), (".door", "_door"))
    for whole, parts in (("", ("", "_for")), (".regions", ("_region", "_tasks")))
}
#: All of these names.
OF_RUNTIMES = {name for names in OF_RUNTIME.values() for name in names}

#: The peer that takes as long as all others together; a short run does without.
_SLOW = "tollbar-bench-omp-omp"


class Situation(NamedTuple):
    """Launches in it follow each other at once."""

    placement: str
    ranks: int


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
}

#: With more threads than this only what may be close is measured, unless names were asked for.
MANY = 32
FEW = ("tollbar::barrier", "turnstile+auto", "turnstile+park", "combination+auto", "std::barrier", "pthread_barrier")
_ROUNDS_OF_MANY = 2


def short(ranks: int, placement: str) -> list[str]:
    """The barriers of today, those that stand in for them, and plans that a group may run."""
    plan, wait = _native.default_choice(ranks, cpus.usable().cpus, placement == "pinned")
    own = ["turnstile+auto", f"{plan}+{wait}", "dissemination+auto"]
    own += ["combination+auto"] if placement == "pinned" else []
    return list(dict.fromkeys(["tollbar::barrier", *own, "std::barrier", "pthread_barrier"]))


def programs(only: Sequence[str], singles: bool = True) -> tuple[dict[str, Path], list[str]]:
    """The programs to run, and a note for each that is not there; FileNotFoundError without the main one."""
    wanted = [MAIN] if not only or set(only) - OF_RUNTIMES else []
    wanted += [program for program, names in OF_RUNTIME.items() if set(names) & set(only)] if only else PEERS
    wanted += [] if only or not singles else SINGLES
    runnable, notes = {}, []
    for name in wanted:
        try:
            if _is_preloaded(name) and not doors.of_threads(["openmp"]):
                raise FileNotFoundError(f"{doors.THREADS['openmp']} is not built; remedy: {paths.mend()}")
            runnable[name] = paths.program(name.partition(".")[0])
        except FileNotFoundError as error:
            if name == MAIN:
                raise
            what = SINGLES[name].what if name in SINGLES else OF_RUNTIME[name][0]
            notes.append(f"{what} is not measured: {error}")
    return runnable, notes


def names() -> set[str]:
    """The barriers that can be measured, besides every plan; the preload's only where it is asked for."""
    openmp = {name for program, names in OF_RUNTIME.items() if _is_preloaded(program) for name in names}
    loaded = {"pthread": {"pthread_door"}, "openmp": openmp}
    absent = {name for way, names in loaded.items() if not doors.of_threads([way]) for name in names}
    return (listed(paths.program(MAIN)) | OF_RUNTIMES | {"pthread_door"}) - absent


def only_of_runtime(program: str, only: Sequence[str]) -> list[str]:
    """The flags that tell a program of OF_RUNTIME which of its names are asked for."""
    names = [name for name in OF_RUNTIME[program] if name in only]
    return ["--only", ",".join(names)] if names else []


def _is_preloaded(program: str) -> bool:
    return ".door" in program


def preloaded(program: str) -> dict[str, str]:
    """The preload for OpenMP, as a program of OF_RUNTIME finds it in its environment where it measures that."""
    if not _is_preloaded(program):
        return {}
    (path,) = doors.of_threads(["openmp"])
    return {"LD_PRELOAD": str(path)}


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Threads, list[str]]]:
    """The work, and a note for what cannot be had. Raises FileNotFoundError without the main program."""
    runnable, notes = programs(request.only, singles=not request.short)
    if request.short and not request.only:
        runnable.pop(_SLOW, None)
    yield Threads(request, runnable), notes


class Threads(Campaign):
    """Threads of one process, and what has a program of its own."""

    kind = "threads"

    def __init__(self, request: Request, runnable: Mapping[str, Path]) -> None:
        super().__init__(request)
        self._runnable = runnable

    @property
    def situations(self) -> list[Situation]:
        return [Situation(placement, ranks) for placement in self.request.placements for ranks in self.request.ranks]

    def facts(self) -> dict[str, Any]:
        return {"placements": list(self.request.placements), "spinners": self.request.spinners}

    def say(self, situation: Situation) -> str:
        return f"{situation.ranks} threads, {situation.placement}"

    def programs(self, situation: Situation) -> list[str]:
        if self.goes_beyond(situation):
            return [MAIN]
        return [name for name in self._runnable if self._belongs(name, situation)]

    def _belongs(self, program: str, situation: Situation) -> bool:
        """Whether that program has something to measure there."""
        if program in SINGLES:
            return situation in SINGLES[program].situations
        if program in PEERS and situation.ranks > MANY and not self.request.only:
            return situation.placement == "free"
        return situation.placement == "free" or not program.endswith(".regions")

    def wants_more(self, situation: Any) -> bool:
        """Sentences are about threads that the kernel places, as users' are."""
        return situation.placement == self.request.placements[-1] and super().wants_more(situation)

    def rounds(self, program: str, situation: Situation, rounds: int) -> int:
        if program in SINGLES:
            return min(rounds, SINGLES[program].most_rounds)
        return min(rounds, _ROUNDS_OF_MANY) if situation.ranks > MANY else rounds

    def command(self, program: str, situation: Situation, rounds: int, seed: int) -> list[str]:
        command = [str(self._runnable[program]), "--ranks", str(situation.ranks)]
        command += ["--placement", situation.placement, "--rounds", str(rounds), "--seed", str(seed)]
        if program in OF_RUNTIME:
            return [*command, *self.counted(), *only_of_runtime(program, self.request.only)]
        return [*command, *self.counted(), *self._of_main(situation)] if program == MAIN else command

    def start(self, program: str, situation: Situation, rounds: int, seed: int) -> Start:
        environment = self.environment() | preloaded(program)
        return Start(self.command(program, situation, rounds, seed), environment, self.limit_s)

    def _of_main(self, situation: Situation) -> list[str]:
        """The flags of the program that measures most."""
        share = self.request.budget_s / self.request.launches / len(self.situations)
        flags = ["--budget-ms", f"{1e3 * share:.0f}"] if self.request.spinners else ["--quick"]
        if only := [name for name in self.request.only if name not in OF_RUNTIMES]:
            return [*flags, "--only", ",".join(only)]
        if self.request.short:
            hopeless = self.evidence(situation).hopeless
            left = {*hopeless, "pthread_barrier"} if self.goes_beyond(situation) else hopeless
            names = [name for name in short(situation.ranks, situation.placement) if name not in left]
            return [*flags, "--only", ",".join(names)]
        return [*flags, "--only", ",".join(FEW)] if situation.ranks > MANY else flags

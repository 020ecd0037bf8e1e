# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench threads`: which programs, with which flags, in which situations.

A situation is a number of threads, their placement, who is beside them, on how many CPUs, and what they compute
between barriers. The metric of all is the time of a turn: that computing and an episode.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tollbar import InvalidArgument, _native, children, environment
from tollbar.campaigns.campaign import ASKING_S, Campaign, Request, Start, listed
from tollbar.data.neighbours import NEIGHBOURS
from tollbar.machine import cpus, doors, paths
from tollbar.machine.session import Session

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


#: tollbar::barrier under a policy of TOLLBAR_WAIT has a process of its own where turns are timed.
BARRIER = "tollbar::barrier"
POLICIES = ("spin", "yield", "park")
#: Barriers that a preload takes over, the same through it, and tollbar's own: `doors` stands for them.
DOORS = (
    *(BARRIER, "pthread_barrier", "pthread_door"),
    *(f"{name}{part}{door}" for name in PEERS.values() for part in ("", "_for") for door in ("", "_door")),
)
#: The names that only programs have that time turns.
_GROUPS = {"group", "tuned group"}
#: The longest computing of a turn.
_LONGEST_US = 1e6


class Where(NamedTuple):
    """A situation, in which launches follow each other at once. Bare episodes are stamped in a plain one; in others
    turns are timed."""

    ranks: int
    placement: str
    beside: str = ""  #: as in NEIGHBOURS; empty: the programs are put before all others
    cpus: int = 0  #: so many of the CPUs that are here; 0: all
    computing: str = "0"

    @property
    def is_plain(self) -> bool:
        return not self.beside and not self.cpus and self.computing == "0"


@dataclass(frozen=True)
class Single:
    """A program that measures one thing: the situations it belongs to, and the rounds that are enough."""

    situations: tuple[Where, ...]
    most_rounds: int
    what: str


SINGLES = {
    "tollbar-bench-processes": Single(
        tuple(Where(ranks, "free") for ranks in (4, 8, 16)), 2, "a barrier between processes"
    ),
    "tollbar-bench-idle": Single((Where(64, "free"),), 1, "the cost of a long wait"),
}

#: With more threads than this only what may be close is measured, unless names were asked for.
MANY = 32
FEW = ("tollbar::barrier", "turnstile+auto", "turnstile+park", "combination+auto", "std::barrier", "pthread_barrier")
_ROUNDS_OF_MANY = 2


#: The barrier that users have today, and the one that stands in for it: a short run times their turns.
SHORT = (BARRIER, "std::barrier")


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


def names(request: Request) -> set[str]:
    """The barriers that can be measured, besides every plan; the preload's only where it is asked for."""
    openmp = {name for program, names in OF_RUNTIME.items() if _is_preloaded(program) for name in names}
    loaded = {"pthread": {"pthread_door"}, "openmp": openmp}
    absent = {name for way, names in loaded.items() if not doors.of_threads([way]) for name in names}
    groups = set() if all(there.is_plain for there in wanted(request)) else _GROUPS
    return (listed(paths.program(MAIN)) | OF_RUNTIMES | {"pthread_door"} | groups) - absent


def spelled_out(request: Request) -> Request:
    """With the barriers in place of `doors`, as far as they are here."""
    if "doors" not in request.only:
        return request
    known = names(request)
    doors_here = [name for name in DOORS if name in known]
    only = [name for word in request.only for name in (doors_here if word == "doors" else [word])]
    return replace(request, only=list(dict.fromkeys(only)))


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


def wanted(request: Request) -> list[Where]:
    """All combinations."""
    usable = cpus.usable().affinity
    return list(
        dict.fromkeys(
            Where(ranks, placement, beside, number if number < usable else 0, computing)
            for beside in request.beside or ("",)
            for number in request.cpus or (0,)
            for computing in request.workloads or ("0",)
            for placement in request.placements
            for ranks in request.ranks
        )
    )


def why_not(there: Where) -> str:
    """Why nobody can have that situation; empty where it can be had."""
    on = there.cpus or cpus.usable().affinity
    if there.beside == "quota" and on < 2:
        return "a quota of 1.5 CPUs takes nothing away from one CPU"
    longest_us = -(-there.ranks // on) * float(there.computing.partition("~")[0])
    if longest_us > _LONGEST_US:
        return f"--compute {there.computing}: {there.ranks} threads on {on} compute for {longest_us / 1e6:g} s a turn"
    return ""


@contextlib.contextmanager
def prepared(request: Request, kind: str = "threads") -> Iterator[tuple[Threads, list[str]]]:
    """The work, and a note for what cannot be had. Raises FileNotFoundError without the main program, InvalidArgument
    where nothing is left to measure."""
    there = [where for where in wanted(request) if not why_not(where)]
    refused = list(dict.fromkeys(why for where in wanted(request) if (why := why_not(where))))
    if not there:
        raise InvalidArgument(f"nothing is left to measure: {'; '.join(refused)}")
    runnable, notes = programs(request.only, singles=not request.short)
    if request.short and not request.only:
        runnable.pop(_SLOW, None)
    lacking = {who: why for who in request.beside if (why := _no_neighbours(who, next(iter(runnable.values()))))}
    notes += [f"{NEIGHBOURS[who].words}: not measured, {why}" for who, why in lacking.items()]
    if not (there := [where for where in there if where.beside not in lacking]):
        raise InvalidArgument(f"nothing is left to measure: {'; '.join(lacking.values())}")
    yield Threads(request, runnable, there, kind), [*notes, *(f"not measured: {why}" for why in refused)]


def _no_neighbours(who: str, program: Path) -> str:
    """Why this machine or user cannot have those neighbours; empty where it can."""
    if who not in ("cgroup", "quota"):
        return ""
    tried = children.run([str(program), "--beside", who, "--list"], ASKING_S)
    if tried.exit_code is None:
        return f"the measuring program has not answered within {ASKING_S:g} s"
    lines = tried.errors.strip().splitlines()[-1:] or ["the measuring program failed"]
    return lines[0].partition(": ")[2] or lines[0] if tried.exit_code else ""


class Threads(Campaign):
    """Threads of one process, and what has a program of its own."""

    def __init__(
        self, request: Request, runnable: Mapping[str, Path], there: Sequence[Where], kind: str = "threads"
    ) -> None:
        super().__init__(request)
        self.kind = kind
        self.first = not request.beside
        self._runnable = runnable
        self._there = there
        self._usable = sorted(os.sched_getaffinity(0))

    @property
    def situations(self) -> Sequence[Where]:
        return self._there

    def facts(self) -> dict[str, Any]:
        request = self.request
        dimensions = {"beside": request.beside, "kept_to": request.cpus, "workloads": request.workloads}
        return {"placements": list(request.placements)} | {
            name: list(values) for name, values in dimensions.items() if values
        }

    def say(self, situation: Where) -> str:
        words = [f"{situation.ranks} threads", situation.placement]
        words += [f"on {situation.cpus} CPU{'s' if situation.cpus > 1 else ''}"] if situation.cpus else []
        words += [NEIGHBOURS[situation.beside].words] if situation.beside else []
        words += [f"{situation.computing} µs between barriers"] if situation.computing != "0" else []
        return ", ".join(words)

    def prepare(self, folder: Path, session: Session) -> None:
        """The barriers that are tuned here are measured too."""
        super().prepare(folder, session)
        stored = environment.tuning_file()
        if stored.is_file() and not all(there.is_plain for there in self.situations):
            shutil.copyfile(stored, self.tuning)

    def programs(self, situation: Where) -> list[str]:
        if situation.is_plain:
            beyond = self.goes_beyond(situation)
            return [MAIN] if beyond else [name for name in self._runnable if self._belongs(name, situation)]
        if self.request.short and not self.request.only:
            return [MAIN]
        policies = [policy for policy in POLICIES if self._has_policy(policy, situation)]
        own = [MAIN] * bool(self._asked(situation)) + [f"{MAIN}.{policy}" for policy in policies]
        return [*(own if MAIN in self._runnable else ()), *(name for name in OF_RUNTIME if name in self._runnable)]

    def _belongs(self, program: str, situation: Where) -> bool:
        """Whether that program has something to measure in a plain situation."""
        if program == MAIN:
            return not self.request.only or bool(self._asked(situation))
        if program in SINGLES:
            return situation in SINGLES[program].situations
        if program in PEERS and situation.ranks > MANY and not self.request.only:
            return situation.placement == "free"
        return situation.placement == "free" or not program.endswith(".regions")

    def _has_policy(self, policy: str, situation: Where) -> bool:
        """Whether tollbar::barrier waits by it there. A spinner without a CPU of its own only loses, so it is asked
        for by its name."""
        if f"{BARRIER}+{policy}" in self.request.only:
            return True
        crowded = situation.ranks > (situation.cpus or len(self._usable))
        return (not self.request.only or BARRIER in self.request.only) and not (policy == "spin" and crowded)

    def wants_more(self, situation: Any) -> bool:
        """Sentences are about threads that the kernel places, as users' are."""
        return situation.placement == self.request.placements[-1] and super().wants_more(situation)

    def rounds(self, program: str, situation: Where, rounds: int) -> int:
        if program in SINGLES:
            return min(rounds, SINGLES[program].most_rounds)
        return min(rounds, _ROUNDS_OF_MANY) if situation.is_plain and situation.ranks > MANY else rounds

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        _, _, policy = program.partition(".")
        wait = {"TOLLBAR_WAIT": policy} if policy in POLICIES else preloaded(program)
        return Start(self.command(program, situation, rounds, seed), self.environment() | wait, self.limit_s)

    def command(self, program: str, situation: Where, rounds: int, seed: int) -> list[str]:
        plain, _, policy = program.partition(".")
        command = [str(self._runnable[program if program in self._runnable else plain])]
        command += ["--ranks", str(situation.ranks), "--placement", situation.placement]
        command += ["--rounds", str(rounds), "--seed", str(seed)]
        if not situation.is_plain:
            command = [*self._kept_to(situation), *command, *self._of_turns(situation)]
        elif program not in SINGLES:
            command += self.counted()
        if program in OF_RUNTIME:
            return [*command, *only_of_runtime(program, self.request.only)]
        if policy in POLICIES:
            return [*command, "--only", BARRIER]
        return [*command, *self._of_main(situation)] if program == MAIN else command

    def _kept_to(self, situation: Where) -> list[str]:
        """The mask is what a smaller machine looks like: the library judges by it how crowded it is."""
        mask = ",".join(map(str, self._usable[: situation.cpus]))
        return ["taskset", "-c", mask] if situation.cpus else []

    def _of_turns(self, situation: Where) -> list[str]:
        """The flags that have turns timed."""
        flags = ["--turns", str(self.request.turns_ms), "--workload", situation.computing]
        flags += ["--beside", situation.beside] if situation.beside else []
        return flags + (["--scheduling"] if self.request.cpus and not situation.beside else [])

    def _asked(self, situation: Where) -> list[str]:
        """The names asked for that its process has there; all, if none were."""
        own = set(OF_RUNTIMES)
        own |= _GROUPS if situation.is_plain else {f"{BARRIER}+{policy}" for policy in POLICIES}
        return [name for name in self.request.only if name not in own] if self.request.only else [""]

    def _of_main(self, situation: Where) -> list[str]:
        """The flags of the program that measures most."""
        share = self.request.budget_s / self.request.launches / len(self.situations)
        flags = ["--quick"]
        if self.request.full:
            flags = ["--budget-ms", f"{1e3 * share:.0f}"] if situation.is_plain else []
        if self.request.only:
            flags = flags if situation.is_plain else []
            return [*flags, "--only", ",".join(self._asked(situation))]
        if self.request.short:
            names = short(situation.ranks, situation.placement) if situation.is_plain else SHORT
            return [*flags, "--only", ",".join(self._left(names, situation))]
        few = situation.is_plain and situation.ranks > MANY
        return [*flags, "--only", ",".join(FEW)] if few else flags

    def _left(self, names: Sequence[str], situation: Where) -> list[str]:
        """The names without those that are no longer measured there."""
        if not situation.is_plain:
            return list(names)
        hopeless = self.evidence(situation).hopeless
        left = {*hopeless, "pthread_barrier"} if self.goes_beyond(situation) else hopeless
        return [name for name in names if name not in left]

# SPDX-License-Identifier: Apache-2.0
"""Campaigns of `tollbar bench threads --beside`: every way to wait, whoever else is there.

A plain program measures: nothing puts it before others. Each process starts its own neighbours and ends it.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tollbar import children, environment
from tollbar.campaigns import threads
from tollbar.campaigns.campaign import ASKING_S, Campaign, Request, Start
from tollbar.machine import cpus
from tollbar.machine.session import Session

#: Neighbours that want the processors, as the programs spell it and in words.
NEIGHBOURS = {
    "alone": "alone",
    "neighbour": "beside a neighbour",
    "neighbours": "beside two neighbours",
    "session": "beside a neighbour in another session",
    "cgroup": "beside a neighbour in another cgroup",
    "quota": "under a quota of 1.5 CPUs",
}
#: tollbar::barrier under a policy of TOLLBAR_WAIT has a process of its own.
BARRIER = "tollbar::barrier"
POLICIES = ("spin", "yield", "park")
#: The barrier that users have today, and the one that stands in for it.
SHORT = (BARRIER, "std::barrier")


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    neighbours: str
    placement: str
    ranks: int


def wanted(request: Request) -> list[Where]:
    """All combinations."""
    return [
        Where(neighbours, placement, ranks)
        for neighbours in request.beside
        for placement in request.placements
        for ranks in request.ranks
        if placement == "free" or not request.pinned or ranks in request.pinned
    ]


def names() -> set[str]:
    """The barriers that can be measured, besides every plan."""
    return {*threads.names(), "group", "tuned group"}


@contextlib.contextmanager
def prepared(request: Request, kind: str = "neighbours") -> Iterator[tuple[Beside, list[str]]]:
    """The work, and a note for what cannot be had. Raises FileNotFoundError without the main program."""
    runnable, notes = threads.programs(request.only or [BARRIER, *threads.PEERS.values()])
    missing = {who: why for who in request.beside if (why := why_not(who, next(iter(runnable.values()))))}
    notes += [f"{NEIGHBOURS[who]}: not measured, {why}" for who, why in missing.items()]
    beside = [who for who in request.beside if who not in missing]
    yield Beside(replace(request, beside=beside), runnable, kind), notes


def why_not(neighbours: str, program: Path) -> str:
    """Why this machine or user cannot have those neighbours; empty where it can."""
    if neighbours not in ("cgroup", "quota"):
        return ""
    tried = children.run([str(program), "--beside", neighbours, "--list"], ASKING_S)
    if tried.exit_code is None:
        return f"the measuring program has not answered within {ASKING_S:g} s"
    lines = tried.errors.strip().splitlines()[-1:] or ["the measuring program failed"]
    return lines[0].partition(": ")[2] or lines[0] if tried.exit_code else ""


class Beside(Campaign):
    """Threads of one process, and what has a program of its own."""

    first = False

    def __init__(self, request: Request, runnable: Mapping[str, Path], kind: str = "neighbours") -> None:
        super().__init__(request)
        self.kind = kind
        self._runnable = runnable
        self._cpus = cpus.usable().affinity

    @property
    def situations(self) -> list[Where]:
        return wanted(self.request)

    def facts(self) -> dict[str, Any]:
        stored = ("beside", "placements", "workloads", "turns_ms")
        return {name: getattr(self.request, name) for name in stored}

    def say(self, situation: Where) -> str:
        return f"{situation.ranks} threads {situation.placement}, {NEIGHBOURS[situation.neighbours]}"

    def prepare(self, folder: Path, session: Session) -> None:
        """The barriers that are tuned here are measured too."""
        super().prepare(folder, session)
        if (stored := environment.tuning_file()).is_file():
            shutil.copyfile(stored, self.tuning)

    def programs(self, situation: Where) -> list[str]:
        if self.request.short and not self.request.only:
            return [threads.MAIN]
        policies = [policy for policy in POLICIES if self._has_policy(policy, situation)]
        own = [threads.MAIN] * bool(self._of_main()) + [f"{threads.MAIN}.{policy}" for policy in policies]
        return [
            *(own if threads.MAIN in self._runnable else ()),
            *(name for name in threads.OF_RUNTIME if name in self._runnable),
        ]

    def _has_policy(self, policy: str, situation: Where) -> bool:
        """A spinner without a processor of its own only loses."""
        only = self.request.only
        included = not only or BARRIER in only or f"{BARRIER}+{policy}" in only
        return included and (policy != "spin" or situation.ranks <= self._cpus)

    def _of_main(self) -> list[str]:
        """The names asked for that its process has; all, if none were."""
        if self.request.short and not self.request.only:
            return list(SHORT)
        own = {f"{BARRIER}+{policy}" for policy in POLICIES} | threads.OF_RUNTIMES
        return [name for name in self.request.only if name not in own] if self.request.only else [""]

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        _, _, policy = program.partition(".")
        wait = {"TOLLBAR_WAIT": policy} if policy in POLICIES else threads.preloaded(program)
        return Start(self.command(program, situation, rounds, seed), self.environment() | wait)

    def command(self, program: str, situation: Where, rounds: int, seed: int) -> list[str]:
        plain, _, policy = program.partition(".")
        is_peer = program in threads.OF_RUNTIME
        command = [str(self._runnable[program if is_peer else plain]), "--ranks", str(situation.ranks)]
        command += ["--placement", situation.placement, "--beside", situation.neighbours]
        command += ["--rounds", str(rounds), "--seed", str(seed), "--turns", str(self.request.turns_ms)]
        command += ["--workload", ",".join(self.request.workloads)]
        if is_peer:
            return [*command, *threads.only_of_runtime(program, self.request.only)]
        only = [BARRIER] if policy else self._of_main()
        return [*command, "--only", ",".join(only)] if only != [""] else command

# SPDX-License-Identifier: Apache-2.0
"""The base of every bench: what is requested, and the situations and programs that this makes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tollbar import children
from tollbar.backports import read_toml
from tollbar.data.schema import Launch
from tollbar.machine import neutral
from tollbar.machine.session import Session

if TYPE_CHECKING:  # statistics are loaded when something is compared
    from tollbar.campaigns.evidence import Evidence

LIMIT_S = 120.0
LONG_S = 3600.0  #: of a launch whose episodes are counted
ASKING_S = 30.0  #: for a program that is asked what it has


class NotHere(FileNotFoundError):
    """A library that is optional is not installed, so there is nothing to measure."""


@dataclass(frozen=True)
class Request:
    """Situations and barriers to measure, how often, and for how long at most. A bench looks at what concerns it."""

    ranks: Sequence[int]
    launches: int
    budget_s: float
    rounds: int = 1
    only: Sequence[str] = ()  #: names of barriers; of an MPI's settings too
    full: bool = False  #: also every setting, plan, and spinner where threads share CPUs
    seed: int = 1
    placements: Sequence[str] = ()
    mpis: Sequence[str] = ()  #: openmpi, mpich5, ...; empty: what targets need
    hosts: int = 1
    threads: Sequence[int] = ()  #: in each rank
    level: str = "serialized"  #: who may call the MPI, where ranks have threads
    cpus: Sequence[int] = ()  #: that threads are kept to; empty: all
    iterations: int = 0  #: of the exchange between PEs
    batch_us: int | None = None  #: time that a batch takes, up to 10,000 episodes or runs
    workloads: Sequence[str] = ()  #: what is computed between barriers; empty: nothing
    as_printed: bool = False  #: workloads of the NIC paper between as many hosts as in its figures alone
    runs: int = 0  #: of each workload, in all launches together; 0: as many as batch_us has
    episodes: int = 0  #: stamped of each barrier in a launch, with each rank's mean, or runs of each workload; 0: as
    #: time allows
    beside: Sequence[
        str
    ] = ()  #: who else wants the processors, as in NEIGHBOURS; empty: nobody, and a session of its own
    turns_ms: int = 100  #: how long turns of one barrier are timed; 100 are one period of a quota
    neighbours: int = 0  #: endless loops in the same session, which is then not put before others
    nics: bool = False  #: also barriers that run on the hosts' NICs
    short: bool = False  #: only what users have today, what stands in for it, and what a group may choose
    most_launches: int = 0  #: up to so many, until what users have today is told from tollbar's; 0: `launches`


def amounts(bench: str, amount: str = "usual") -> dict[str, Any]:
    """How much a bench measures unless asked otherwise: usual, quick or full (amounts.toml)."""
    known = read_toml(Path(__file__).with_name("amounts.toml"))[bench]
    return known["usual"] | known.get(amount, {})


@dataclass(frozen=True)
class Start:
    """One launch to be made; its output is kept under the name of the program that is asked for."""

    command: Sequence[str]
    environment: Mapping[str, str]
    limit_s: float = LIMIT_S


class Campaign:
    """Situations, and the programs to be launched in each. Every bench is one; passes.measure runs it."""

    kind: str
    first = True  #: whether its session is put before all others, where that is permitted
    pair = ("std::barrier", "tollbar::barrier")  #: what users have today, and what stands in for it

    def __init__(self, request: Request) -> None:
        self.request = request
        self._evidence: dict[Hashable, Evidence] = {}
        self.tuning = Path("tuning")  #: where the library finds and stores choices meanwhile

    @property
    def situations(self) -> Sequence[Hashable]:
        raise NotImplementedError

    def facts(self) -> dict[str, Any]:
        """The facts that a run is stored with, besides the machine and what is requested of every bench."""
        return {}

    def looks(self) -> dict[str, int]:
        """The fact that tells who reads the run how often its times were looked at; none where they ended nothing."""
        return {"launches_a_look": self.request.launches} if self.request.most_launches else {}

    def say(self, situation: Any) -> str:
        """The situation in words."""
        raise NotImplementedError

    def programs(self, situation: Any) -> list[str]:
        raise NotImplementedError

    def rounds(self, program: str, situation: Any, rounds: int) -> int:
        """How many rounds that program makes where a pass has so many."""
        return rounds

    def note(self, situation: Hashable, launch: Launch) -> None:
        """A launch has ended there."""
        self.evidence(situation).add(launch)

    def evidence(self, situation: Hashable) -> Evidence:
        """The evidence of the launches there so far."""
        from tollbar.campaigns.evidence import Evidence

        return self._evidence.setdefault(situation, Evidence(*self.pair, self.request.launches))

    def goes_beyond(self, situation: Hashable) -> bool:
        """Whether launches there are now beyond `request.launches`: no other peer is measured any more."""
        return bool(self.request.most_launches) and self.evidence(situation).launches >= self.request.launches

    def wants_more(self, situation: Any) -> bool:
        """Whether launches beyond `request.launches` would narrow the ratio of today's to what stands in for it."""
        known = self.evidence(situation)
        return 0 < known.launches < self.request.most_launches and not known.narrow

    def prepare(self, folder: Path, session: Session) -> None:
        """The run is stored there, in that session."""
        self.tuning = (folder / "tuning").absolute()

    def command(self, program: str, situation: Any, rounds: int, seed: int) -> list[str]:
        """The words to launch."""
        raise NotImplementedError

    def start(self, program: str, situation: Any, rounds: int, seed: int) -> Start:
        """One launch."""
        return Start(self.command(program, situation, rounds, seed), self.environment(), self.limit_s)

    def counted(self) -> list[str]:
        """The flags of a measuring program for so many episodes of each barrier, where a number is requested."""
        return ["--episodes", str(self.request.episodes)] if self.request.episodes else []

    @property
    def limit_s(self) -> float:
        """The time that a launch may take."""
        return LONG_S if self.request.episodes else LIMIT_S

    def environment(self) -> dict[str, str]:
        """The environment of a measuring program."""
        return neutral.environment() | {"TOLLBAR_TUNING": str(self.tuning)}


def listed(program: Path, *flags: str) -> set[str]:
    """The names of all barriers that a measuring program has."""
    answer = children.run([str(program), *flags, "--list"], ASKING_S)
    records = map(json.loads, answer.output.splitlines()) if answer.exit_code == 0 else ()
    return {record["name"] for record in records if "name" in record}

# SPDX-License-Identifier: Apache-2.0
"""A run of a random program: when each of its steps began and ended, and which ranks were stopped."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

from random_programs import Comm, Program, Step

MOST_RANKS = 8
PAGE_BYTES = 4 * MOST_RANKS + 16 * (1 << 16)
#: A thread may be without its CPU between what it writes down and its call.
SLACK_S = 0.02
#: The ways in which a rank's threads stand still all at once, one of them between what it writes down and its call.
STAND_STILL = ("astray-stopped", "astray-killed", "astray-exited")


@dataclass
class Stop:
    """A rank that was stopped from outside."""

    rank: int
    begin: float
    end: float = math.inf


@dataclass
class Record:
    """When each step began and ended, from the page that the ranks write."""

    program: Program
    page: bytes
    timeout_s: float
    until: float = math.inf  #: later times are those of a job that is being ended
    stops: list[Stop] = field(default_factory=list)
    lost_s: float = 0.5  #: so long a thread may have been without its CPU

    def __post_init__(self) -> None:
        steps = self.program.steps
        times = [
            time if 0 < time <= self.until else math.inf
            for time in struct.unpack_from(f"{2 * len(steps)}d", self.page, 4 * MOST_RANKS)
        ]
        self._began = dict(zip(steps, times[::2], strict=True))
        self._ended = dict(zip(steps, times[1::2], strict=True))
        self.counted: dict[tuple[int, Comm], list[Step]] = {}
        self.starts: dict[tuple[int, int], list[Step]] = {}  #: of a rank's persistent call, by its slot
        self.made: dict[tuple[int, str], list[Step]] = {}  #: what makes a communicator, and frees it
        self._calls: dict[int, list[Step]] = {}
        for step in steps:
            if step.counts and step.comm:
                self.counted.setdefault((step.rank, step.comm), []).append(step)
            if step.word == "start":
                self.starts.setdefault((step.rank, step.numbers[0]), []).append(step)
            if step.makes:
                self.made.setdefault((step.rank, step.makes), []).append(step)
            if step.call and self.began(step) < math.inf:
                self._calls.setdefault(step.rank, []).append(step)
        self.lanes = self.program.lanes()

    def began(self, step: Step) -> float:
        return self._began[step]

    def ended(self, step: Step) -> float:
        return self._ended[step]

    def moves(self, begin: float, end: float) -> bool:
        """Whether a step began or ended between."""
        return any(begin <= time <= end for times in (self._began, self._ended) for time in times.values())

    def came(self, rank: int) -> float:
        """When the rank came out of MPI_Init."""
        return self.began(self.lanes[rank, 0][0])

    def stands(self) -> dict[tuple[int, int], int]:
        """How many steps each lane has ended."""
        return {lane: sum(self.ended(step) < math.inf for step in steps) for lane, steps in self.lanes.items()}

    def numbered(self, rank: int, comm: Comm, number: int) -> Step | None:
        """The rank's collective call of that number."""
        calls = self.counted.get((rank, comm), [])
        return calls[number - 1] if 0 < number <= len(calls) else None

    def had_come(self, step: Step | None, by: float) -> bool:
        """Whether the rank had come to that call for certain: it may have been stopped, or have ended, before."""
        if step is None:
            return False
        came, astray = self.began(step), self.program.astray
        if astray is not None and astray.rank == step.rank and astray.word in STAND_STILL:
            by = min(by, self.began(astray))
        for stop in self.stops:
            if stop.rank == step.rank and stop.begin <= came + SLACK_S and stop.end > came:
                came = stop.end + SLACK_S
        return came < by - self.lost_s or (not step.begun and self.ended(step) < by)

    def is_stopped(self, rank: int, begin: float, end: float) -> bool:
        astray = self.program.astray
        by_itself = (
            astray is not None and astray.rank == rank and astray.word in STAND_STILL and self.began(astray) <= end
        )
        return by_itself or any(one.rank == rank and one.begin <= end and one.end >= begin for one in self.stops)

    def inside(self, rank: int, begin: float, end: float) -> list[Step]:
        """The steps with a call of the MPI that threads of the rank were in, at some time between."""
        steps = self._calls.get(rank, [])
        return [step for step in steps if self.began(step) <= end and self.ended(step) >= begin]

    def has_finalized(self, rank: int, at: float) -> bool:
        return any(step.word == "finalize" and self.ended(step) <= at for step in self.lanes[rank, 0])

    def is_elsewhere(self, rank: int, comm: Comm, begin: float, end: float) -> bool:
        """Whether it may not have had the communicator at some time between."""
        made = self.made.get((rank, comm.name), [])
        return any(
            step.word == "idup"
            or (self.began(step) <= end if step.word == "free" else self.ended(step) >= begin - self.lost_s)
            for step in made
        )

# SPDX-License-Identifier: Apache-2.0
"""Random programs of MPI as data, for tests/look/random_program.c: what each rank and thread does, what each step needs
of others before it can end, and at most one fault. A number gives the whole program."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

KINDS = (
    "Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall", "Scan", "Exscan",
    "Reduce_scatter_block", "Allgatherv", "Alltoallv", "Neighbor_allgather",
)  # fmt: skip
ROOTED = ("Bcast", "Reduce", "Gather", "Scatter")
BETWEEN_GROUPS = ("Barrier", "Allreduce", "Allgather")
#: How a rank goes astray, and the calls that are seen then, if any.
FAULTS = {
    "stopped": (), "killed": (), "exited": (), "loops": (), "sleeps": (), "locks": (),
    "meets": ("Barrier",), "receives": ("Recv",), "sends": ("Ssend",), "awaits": ("Wait",), "tests": ("Test",),
    "probes": ("Iprobe",), "another call": (), "another root": (),
}  # fmt: skip
WORLD, SPARE, NOWHERE = 0, 1, (1 << 13) - 1
NEVER = "never"


@dataclass(frozen=True)
class Size:
    """The most that a program may have, where it is less than chance has it."""

    ranks: int = 0
    events: int = 0
    pieces: tuple[int, ...] = (0,)  #: programs that follow each other in one job


AS_CHANCE_HAS_IT = Size()


@dataclass(eq=False)
class Comm:
    number: int
    members: tuple[int, ...]  #: ranks of MPI_COMM_WORLD, in the order of this one's; of both groups, own ones first
    groups: tuple[tuple[int, ...], ...] = ()  #: the two that it is between
    cart: bool = False

    @property
    def name(self) -> str:
        return f"c{self.number}" if self.number != WORLD else "MPI_COMM_WORLD"

    def group_of(self, rank: int) -> tuple[int, ...]:
        return next((group for group in self.groups if rank in group), self.members)


@dataclass(eq=False)
class Step:
    rank: int
    lane: int
    word: str
    numbers: tuple[int, ...] = ()
    comm: Comm | None = None
    call: str = ""  #: without MPI_, that a report may name; empty outside of the MPI
    counts: bool = False  #: as a collective call of its communicator
    begun: bool = False  #: it returns at once, and another step waits for it
    #: The steps that must have begun, or ended, before it ends: where every call waits for all that take part in it,
    #: and where each waits only for what it cannot do without.
    begun_before: dict[str, set] = field(default_factory=lambda: {"most": set(), "least": set()})
    ended_before: set = field(default_factory=set)
    waits_for: list = field(default_factory=list)  #: the steps whose ends it waits for

    def needs(self, most: set, least: set) -> None:
        self.begun_before["most"] |= most
        self.begun_before["least"] |= least

    def takes_needs_of(self, other: Step) -> None:
        self.needs(other.begun_before["most"], other.begun_before["least"])

    @property
    def makes(self) -> str:
        """The name of the communicator that it makes, or frees."""
        at = {"free": 0, "inter": 1, "merge": 1, "dup": 1, "idup": 1, "split": 1, "cart": 1, "create": 1, "group": 1}
        return f"c{self.numbers[at[self.word]]}" if self.word in at else ""

    @property
    def calls(self) -> set[str]:
        """The calls that it makes, one after the other."""
        return {self.call, "Recv"} if self.call in ("Probe", "Iprobe") and self.word == "receive" else {
            self.call, *(("Mrecv",) if self.call == "Mprobe" else ())
        }  # fmt: skip

    @property
    def partners(self) -> set[int]:
        """The ranks whose messages it sends or gets, or waits for; -1: it waits for something else."""
        if self.word == "wait":
            return {rank for step in self.waits_for for rank in step.partners}
        at = {"send": (1,), "receive": (1,), "swap": (1, 2)}.get(self.word, ())
        at = (1,) if self.word.startswith("astray") and self.call not in ("", "Barrier") else at
        return {self.comm.members[self.numbers[index]] for index in at} if at and self.comm else {-1}

    @property
    def line(self) -> str:
        return " ".join(map(str, (self.rank, self.lane, self.word, *self.numbers)))


@dataclass
class Program:
    seed: int
    ranks: int
    steps: list[Step]
    comms: list[Comm]
    fault: str
    astray: Step | None  #: the step at which a rank goes astray

    @cached_property
    def final(self) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
        """The fewest and the most steps that each lane has ended when nothing moves any more."""
        return self.stands("most"), self.stands("least")

    @property
    def threads(self) -> bool:
        return any(step.lane for step in self.steps)

    @property
    def mismatches(self) -> bool:
        return self.fault.startswith("another")

    @property
    def text(self) -> str:
        return "".join(step.line + "\n" for step in self.steps)

    def lanes(self) -> dict[tuple[int, int], list[Step]]:
        lanes: dict[tuple[int, int], list[Step]] = {}
        for step in self.steps:
            lanes.setdefault((step.rank, step.lane), []).append(step)
        return lanes

    def stands(self, how: str) -> dict[tuple[int, int], int]:
        """How many steps each lane of each rank has ended when nothing moves any more. The
        steps of a rank that went astray that return at once count as begun for "most" only from their wait on: before,
        nobody goes on with them."""
        lanes = self.lanes()
        at = dict.fromkeys(lanes, 0)
        met: set[Step] = set()
        begun: set[object] = set()
        ended: set[Step] = set()
        open_lanes = {(rank, 0) for rank in range(self.ranks)}
        moved = True
        while moved:
            moved = False
            for lane in sorted(open_lanes):
                while at[lane] < len(lanes[lane]):
                    step = lanes[lane][at[lane]]
                    if step not in met:
                        met.add(step)
                        moved = True
                        late = how == "most" and step.begun and self.astray and step.rank == self.astray.rank
                        begun |= set(step.waits_for) if late else {step, *step.waits_for}
                        if step.word == "spawn" and (step.rank, step.numbers[0]) in lanes:
                            open_lanes.add((step.rank, step.numbers[0]))
                    waits = set() if step.begun else step.begun_before[how]
                    if not waits <= begun or not step.ended_before <= ended:
                        break
                    ended.add(step)
                    at[lane] += 1
                    moved = True
        return at

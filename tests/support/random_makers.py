# SPDX-License-Identifier: Apache-2.0
"""Random programs of MPI, each out of a number: communicators and threads come and go, and one rank may go astray."""

from __future__ import annotations

import random

from random_events import Events
from random_programs import FAULTS, KINDS, NEVER, NOWHERE, ROOTED, SPARE, WORLD, Comm, Program, Step

#: The share of events after which a rank is slow.
SLOW = 0.06


class Maker(Events):
    """Makes a program out of a number."""

    def make(self) -> Program:
        self.create("dup", self.comms[WORLD], keep=False)
        for piece in self.size.pieces:
            self.chance = random.Random(f"{self.seed} {piece}")
            self.piece()
        ends = [
            self.add(rank, 0, "finalize", comm=self.comms[WORLD], call="Finalize", counts=True)
            for rank in range(self.ranks)
        ]
        for step in ends:
            step.needs(set(ends), set())
        astray = self.go_astray() if self.fault else None
        return Program(self.seed, self.ranks, self.steps, self.comms, self.fault, astray)

    def piece(self) -> None:
        """Some events; afterwards all is as before."""
        events = self.chance.randint(8, 40)
        for _ in range(min(events, self.size.events or events)):
            self.event(self.chance.choice(self.live), {})
            if self.slow_ms and self.chance.random() < SLOW:
                self.outside(self.chance.randrange(self.ranks), 0, self.chance.randint(1, self.slow_ms))
        for rank in range(self.ranks):
            self.settle(rank, 0)
        if self.size.pieces != (0,):
            self.live = [self.comms[WORLD], *self.kept, *self.live[1:]]
            self.kept = []
            for comm in self.live[1:]:
                self.free(comm, {})

    def event(self, comm: Comm, lanes: dict[int, int]) -> None:
        """One of the things that ranks of a communicator do together, in these lanes of theirs."""
        kinds = {self.meet: 10, self.message: 7, self.swap: 2, self.quiet: 2, self.some_settle: 5}
        if not lanes:
            kinds |= {self.persist: 1, self.some_create: 5, self.free: 2}
        if not lanes and self.with_threads:
            kinds |= {self.in_threads: 3}
        if comm.groups:
            kinds = {self.meet: 4, self.some_settle: 2} | ({self.merge: 1, self.free: 1} if not lanes else {})
        self.chance.choices(list(kinds), list(kinds.values()))[0](comm, lanes)

    def some_create(self, comm: Comm, _: dict[int, int]) -> None:
        if len(self.live) < 12:
            ways = ["dup", "dup", "idup", "split", "split", "cart", "create", "group", "inter"]
            way = self.chance.choice(ways)
            self.inter(comm) if way == "inter" else self.create(way, comm)

    def create(self, way: str, comm: Comm, keep: bool = True) -> list[Comm]:
        """A call of all members, but for create_group, that makes one or several; at some ranks none."""
        members, size = comm.members, len(comm.members)
        numbers: dict[int, tuple[int, ...]] = dict.fromkeys(members, ())
        made: list[Comm] = []
        new_of: dict[int, Comm] = {}
        if way in ("dup", "idup", "cart"):
            made = [self.new_comm(members, cart=way == "cart")]
            new_of = dict.fromkeys(members, made[0])
            numbers = dict.fromkeys(members, (size,) if way == "cart" else ())
        elif way == "split":
            colors = {rank: self.chance.choice((-1, 0, 0, 1, 1)) for rank in members}
            back = self.chance.random() < 0.3
            for color in (0, 1):
                there = tuple(rank for rank in (reversed(members) if back else members) if colors[rank] == color)
                if there:
                    made.append(self.new_comm(there))
                    new_of |= dict.fromkeys(there, made[-1])
            numbers = {rank: (colors[rank], -at if back else at) for at, rank in enumerate(members)}
        else:
            chosen = sorted(self.chance.sample(range(size), self.chance.randint(1, size)))
            made = [self.new_comm(tuple(members[at] for at in chosen))]
            new_of = dict.fromkeys(made[0].members, made[0])
            numbers = dict.fromkeys(members, (self.next("tag"), len(chosen), *chosen))
            if way == "group":
                members = made[0].members
        call = {"cart": "Cart_create", "group": "Comm_create_group"}.get(way, f"Comm_{way}")
        steps = []
        for rank in members:
            new = new_of.get(rank)
            slot = (self.next("slot"),) if way == "idup" else ()
            step = self.add(
                rank,
                0,
                way,
                comm.number,
                new.number if new else NOWHERE,
                *slot,
                *numbers[rank],
                comm=comm,
                call=call,
                counts=way != "group",
                begun=way == "idup",
            )
            steps.append(step)
            if slot:
                step.needs(set(), set())
        for step in steps:
            step.needs(set(steps), set(steps))
            if way == "idup":
                self.wait(step.rank, 0, [(step.numbers[2], step)], self.chance.choice((0, 2)))
        if keep:
            self.live += made
        return made

    def inter(self, comm: Comm) -> None:
        """Two halves by MPI_Comm_split, and what is between them."""
        if comm.groups or len(comm.members) < 2:
            return
        at = self.chance.randint(1, len(comm.members) - 1)
        halves = [self.new_comm(comm.members[:at]), self.new_comm(comm.members[at:])]
        steps = [
            self.add(
                rank,
                0,
                "split",
                comm.number,
                halves[place >= at].number,
                int(place >= at),
                place,
                comm=comm,
                call="Comm_split",
                counts=True,
            )
            for place, rank in enumerate(comm.members)
        ]
        for step in steps:
            step.needs(set(steps), set(steps))
        new, tag = self.new_comm(comm.members, groups=(halves[0].members, halves[1].members)), self.next("tag")
        steps = [
            self.add(
                rank,
                0,
                "inter",
                half.number,
                new.number,
                comm.number,
                0,
                other,
                tag,
                comm=half,
                call="Intercomm_create",
            )
            for half, other in ((halves[0], at), (halves[1], 0))
            for rank in half.members
        ]
        for step in steps:
            step.needs(set(steps), set(steps))
        self.live += [new, *halves]

    def merge(self, comm: Comm, _: dict[int, int]) -> None:
        new = self.new_comm(comm.members)
        steps = [
            self.add(
                rank,
                0,
                "merge",
                comm.number,
                new.number,
                int(rank in comm.groups[1]),
                comm=comm,
                call="Intercomm_merge",
                counts=True,
            )
            for rank in comm.members
        ]
        for step in steps:
            step.needs(set(steps), set(steps))
        self.live.append(new)

    def free(self, comm: Comm, _: dict[int, int]) -> None:
        if comm.number in (WORLD, SPARE):
            return
        self.live.remove(comm)
        for rank in comm.members:
            self.settle(rank, 0)
            self.add(rank, 0, "free", comm.number, comm=comm, call="Comm_free").needs(set(), set())

    def in_threads(self, comm: Comm, _: dict[int, int]) -> None:
        """Threads of the members of a communicator, each set of them on one of its own; their ranks go on meanwhile."""
        if comm.groups or self.numbers["lane"] > 4000:
            return
        sets = self.chance.choice((1, 1, 2, 3, 9)) if len(comm.members) < 4 else self.chance.choice((1, 2))
        own = [self.create("dup", comm, keep=False)[0] for _ in range(sets)]
        lanes = [{rank: self.next("lane") for rank in comm.members} for _ in own]
        for rank in comm.members:
            for each in lanes:
                self.add(rank, 0, "spawn", each[rank])
        for each, its in zip(own, lanes, strict=True):
            for _ in range(self.chance.randint(1, 4)):
                self.event(each, its)
            for rank in comm.members:
                self.settle(rank, its[rank])
        others = [one for one in self.live if one is not comm and not one.groups]
        for _ in range(self.chance.randint(0, 2)):
            if others:
                self.meet(self.chance.choice(others), {})
        for rank in comm.members:
            for each in lanes:
                last = [step for step in self.steps if (step.rank, step.lane) == (rank, each[rank])]
                self.add(rank, 0, "join", each[rank]).ended_before |= set(last[-1:])
        for each in own:
            if self.chance.random() < 0.7:
                for rank in each.members:
                    self.add(rank, 0, "free", each.number, comm=each, call="Comm_free")
            else:
                self.kept.append(each)

    def go_astray(self) -> Step:
        meets = [
            step
            for step in self.steps
            if step.word == "meet"
            and step.numbers[2] == 0
            and not step.comm.groups
            and len(step.comm.members) > 1
            and (self.fault == "another call" or KINDS[step.numbers[1]] in ROOTED)
        ]
        if self.fault.startswith("another") and meets:
            return self.mismatch(self.chance.choice(meets))
        if self.fault.startswith("another"):
            self.fault = "sleeps"
        spare = self.comms[SPARE]
        first = next(at for at, step in enumerate(self.steps) if step.word != "dup" or step.comm.number != WORLD)
        at = self.chance.choice(range(first, len(self.steps)))
        there = self.steps[at]
        peer = self.chance.choice([rank for rank in range(self.ranks) if rank != there.rank])
        call = (*FAULTS[self.fault], "")[0]
        word = f"astray-{self.fault}"
        step = Step(there.rank, there.lane, word, (SPARE, peer), spare, call, counts=self.fault == "meets")
        step.needs({NEVER}, {NEVER})
        self.steps.insert(at, step)
        return step

    def mismatch(self, step: Step) -> Step:
        """One rank makes another call than the others, or with another root, and then sleeps."""
        comm, numbers = step.comm, list(step.numbers)
        if self.fault == "another call":
            others = [kind for kind in KINDS[:11] if kind != KINDS[numbers[1]]]
            numbers[1] = KINDS.index(self.chance.choice(others))
        else:
            numbers[5] = (numbers[5] + 1) % len(comm.members)
        salt = numbers[6]
        step.call, step.numbers = KINDS[numbers[1]], tuple(numbers)
        after = False  # from there on messages of that call may be taken for those of later ones
        for one in self.steps:
            if one.word == "meet" and one.numbers[6] == salt:
                after = True
                one.needs({NEVER}, set())
                one.begun_before["least"] = set()
            if one.word == "meet" and after:
                one.numbers = (*one.numbers[:7], 1)  # what it gives is not checked
        asleep = Step(step.rank, step.lane, "astray-sleeps", (SPARE, 0))
        asleep.needs({NEVER}, {NEVER})
        self.steps.insert(self.steps.index(step) + 1, asleep)
        return step

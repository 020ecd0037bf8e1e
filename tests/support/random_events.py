# SPDX-License-Identifier: Apache-2.0
"""Events of random programs: what ranks of a communicator do together, and what each step needs of the others."""

from __future__ import annotations

import random

from random_programs import AS_CHANCE_HAS_IT, BETWEEN_GROUPS, FAULTS, KINDS, WORLD, Comm, Size, Step


class Events:
    """Adds steps to a program: an event is a step, or some, of each rank that takes part. In the order of events every
    step needs only earlier ones, so that a program without a fault ends."""

    def __init__(self, seed: int, mpi: str, slow_ms: int = 0, size: Size = AS_CHANCE_HAS_IT) -> None:
        self.chance = random.Random(seed)
        self.seed, self.slow_ms, self.size = seed, slow_ms, size
        self.hangs_in_scatters = mpi == "mpich"  # that of MPICH 4.0, in a second persistent one
        self.ranks = self.chance.choice((2, 2, 3, 3, 4, 4, 5, 6, 8))
        self.ranks = min(self.ranks, size.ranks or self.ranks)
        self.steps: list[Step] = []
        self.comms = [Comm(WORLD, tuple(range(self.ranks)))]
        self.live = [self.comms[0]]
        self.kept: list[Comm] = []  #: by threads, and not freed yet
        self.pending: dict[tuple[int, int], list[tuple[int, Step]]] = {}
        self.numbers = {"slot": 0, "lane": 0, "salt": 0, "tag": 0}
        self.with_threads = self.chance.random() < 0.5
        self.fault = "" if slow_ms else self.chance.choice(list(FAULTS))

    def next(self, what: str) -> int:
        self.numbers[what] += 1
        return self.numbers[what]

    def new_comm(self, members: tuple[int, ...], **how: object) -> Comm:
        comm = Comm(len(self.comms), members, **how)  # type: ignore[arg-type]
        self.comms.append(comm)
        return comm

    def add(self, rank: int, lane: int, word: str, *numbers: int, **how: object) -> Step:
        step = Step(rank, lane, word, numbers, **how)  # type: ignore[arg-type]
        self.steps.append(step)
        return step

    def lane_of(self, lanes: dict[int, int], rank: int) -> int:
        return lanes.get(rank, 0)

    def kind_for(self, comm: Comm, how: int) -> str:
        kinds = [kind for kind in KINDS if comm.cart or not kind.startswith("Neighbor")]
        kinds = [kind for kind in kinds if how == 0 or kind != "Alltoallv"]
        return self.chance.choice(BETWEEN_GROUPS if comm.groups else kinds)

    def meet(self, comm: Comm, lanes: dict[int, int]) -> None:
        how = self.chance.choice((0, 0, 1))
        kind = self.kind_for(comm, how)
        root = self.chance.randrange(len(comm.members))
        self.bind(self.begin(comm, lanes, kind, how, root), kind, comm, root)

    def begin(self, comm: Comm, lanes: dict[int, int], kind: str, how: int, root: int) -> dict[int, Step]:
        count, salt = self.chance.choice((1, 1, 3, 100, 6000)), self.next("salt")
        name = ("", "I", "")[how] + (kind.lower() if how == 1 else kind)
        steps = {}
        for rank in comm.members:
            slot, lane = self.next("slot"), self.lane_of(lanes, rank)
            step = self.add(
                rank,
                lane,
                "meet",
                comm.number,
                KINDS.index(kind),
                how,
                slot,
                count,
                root,
                salt,
                comm=comm,
                call=name if how < 2 else f"{kind}_init",
                counts=True,
                begun=how > 0,
            )
            steps[rank] = step
            if how == 1:
                self.pending.setdefault((rank, lane), []).append((slot, step))
        return steps

    def bind(self, steps: dict[int, Step], kind: str, comm: Comm, root: int) -> None:
        """Gives each of the steps what it needs of the others."""
        for at, (rank, step) in enumerate(steps.items()):
            others = set(steps.values())
            least = set(others)
            if comm.groups:
                least = {steps[other] for other in comm.members if other not in comm.group_of(rank)}
            elif kind in ("Bcast", "Scatter"):
                least = set() if at == root else {steps[comm.members[root]]}
            elif kind in ("Reduce", "Gather"):
                least = others if at == root else set()
            elif kind in ("Scan", "Exscan"):
                least = {steps[other] for other in comm.members[:at]}
            elif kind == "Neighbor_allgather":
                least = {steps[comm.members[(at + way) % len(comm.members)]] for way in (-1, 1)}
            step.needs(others, least)

    def persist(self, comm: Comm, lanes: dict[int, int]) -> None:
        """A persistent collective call, some rounds of it, with other things in between."""
        if comm.groups or comm.cart:
            return
        kind, root = self.kind_for(comm, 2), self.chance.randrange(len(comm.members))
        if kind == "Alltoallv" or (kind == "Scatter" and self.hangs_in_scatters):
            return
        made = self.begin(comm, lanes, kind, 2, root)
        for step in made.values():
            step.begun = False
            step.needs(set(made.values()), set())
        slots = {rank: step.numbers[3] for rank, step in made.items()}
        for _ in range(self.chance.randint(1, 3)):
            begun = {
                rank: self.add(rank, 0, "start", slot, comm=comm, call="Start", begun=True)
                for rank, slot in slots.items()
            }
            self.bind(begun, kind, comm, root)
            if self.chance.random() < 0.5:
                self.message(comm, lanes)
            for rank, slot in slots.items():
                self.wait(rank, 0, [(slot, begun[rank])], self.chance.choice((0, 0, 2)))
        for rank, slot in slots.items():
            self.add(rank, 0, "release", slot, call="Request_free")

    def wait(self, rank: int, lane: int, pending: list[tuple[int, Step]], how: int) -> None:
        slots = [slot for slot, _ in pending]
        calls = [("Wait", "Waitall"), ("Waitany",) * 2, ("Test", "Testall"), ("Waitsome",) * 2, ("Testany",) * 2]
        step = self.add(rank, lane, "wait", how, len(slots), *slots, call=calls[how][len(slots) > 1])
        for _, begun in pending:
            step.takes_needs_of(begun)
            step.waits_for.append(begun)

    def settle(self, rank: int, lane: int, share: float = 1.0) -> None:
        """Waits for that share of the requests under way."""
        pending = self.pending.pop((rank, lane), [])
        chosen = [one for one in pending if share == 1 or self.chance.random() < share]
        self.pending[rank, lane] = [one for one in pending if one not in chosen]
        while chosen:
            some = chosen[: self.chance.randint(1, min(len(chosen), 8))]
            chosen = chosen[len(some) :]
            self.wait(rank, lane, some, self.chance.choice((0, 0, 0, 1, 2, 3, 4)))

    def some_settle(self, comm: Comm, lanes: dict[int, int]) -> None:
        for rank in comm.members:
            if self.chance.random() < 0.6:
                self.settle(rank, self.lane_of(lanes, rank), self.chance.choice((0.5, 1.0)))

    def message(self, comm: Comm, lanes: dict[int, int]) -> None:
        if comm.groups:
            return
        size = len(comm.members)
        for _ in range(self.chance.randint(1, 3)):
            to, source = self.chance.sample(range(size), 2) if size > 1 else (0, 0)
            if to == source:
                return
            self.one_message(comm, lanes, source, to)

    def one_message(self, comm: Comm, lanes: dict[int, int], source: int, to: int) -> None:
        count, salt, tag = self.chance.choice((1, 10, 30000)), self.next("salt"), self.next("tag")
        sends, receives = self.chance.choice((0, 0, 1, 2)), self.chance.choice((0, 0, 1, 2, 2, 3, 4, 5))
        by, by_lane = comm.members[source], self.lane_of(lanes, comm.members[source])
        other, its_lane = comm.members[to], self.lane_of(lanes, comm.members[to])
        slots = self.next("slot"), self.next("slot")
        # An any-source receive would take whatever has this tag, which is only this one.
        first = receives == 2 and self.chance.random() < 0.5
        sent_by = ("Send", "Ssend", "Isend")[sends]
        received_by = ("Recv", "Recv", "Irecv", "Probe", "Iprobe", "Mprobe")[receives]

        def receive() -> Step:
            return self.add(
                other,
                its_lane,
                "receive",
                comm.number,
                source,
                tag,
                count,
                salt,
                receives,
                slots[1],
                comm=comm,
                call=received_by,
                begun=receives == 2,
            )

        received = receive() if first else None
        sent = self.add(
            by, by_lane, "send", comm.number, to, tag, count, salt, sends, slots[0],
            comm=comm, call=sent_by, begun=sends == 2,
        )  # fmt: skip
        received = received or receive()
        sent.needs({received}, {received} if sends == 1 or count > 1000 else set())
        received.needs({sent}, {sent})
        if sends == 2:
            self.pending.setdefault((by, by_lane), []).append((slots[0], sent))
        if receives == 2:
            self.pending.setdefault((other, its_lane), []).append((slots[1], received))

    def swap(self, comm: Comm, lanes: dict[int, int]) -> None:
        """A ring of MPI_Sendrecv."""
        if comm.groups or len(comm.members) < 2:
            return
        size, count, tag = len(comm.members), self.chance.choice((1, 20000)), self.next("tag")
        salts = [self.next("salt") for _ in comm.members]
        steps = [
            self.add(
                rank,
                self.lane_of(lanes, rank),
                "swap",
                comm.number,
                (at + 1) % size,
                (at - 1) % size,
                tag,
                count,
                salts[at],
                salts[at - 1],
                self.next("slot"),
                comm=comm,
                call="Sendrecv",
            )
            for at, rank in enumerate(comm.members)
        ]
        for at, step in enumerate(steps):
            left, right = steps[at - 1], steps[(at + 1) % size]
            step.needs({left, right}, {left} | ({right} if count > 1000 else set()))

    def outside(self, rank: int, lane: int, milliseconds: int) -> None:
        self.add(rank, lane, self.chance.choice(("compute", "sleep")), milliseconds)

    def quiet(self, comm: Comm, lanes: dict[int, int]) -> None:
        rank = self.chance.choice(comm.members)
        self.outside(rank, self.lane_of(lanes, rank), self.chance.randint(1, 10))

# SPDX-License-Identifier: Apache-2.0
"""Ranks of an MPI job of this host: in which call each is, and which are not where the others are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.look.sight import Communicator, Moment, Thread, at_of, on

#: The last two are Open MPI's, which PMPI_Init and PMPI_Finalize end in without a frame of their own.
_CALL = re.compile(r"P?MPI_[A-Z]\w+$|p?mpi_[a-z_]+$|ompi_mpi_(init|finalize)$|p?shmem_\w+$")
#: The library's table has those of communicators; to these come the ranks of a window or a group.
_COLLECTIVE = {
    *_native.collective_calls(), "MPI_Win_fence", "MPI_Win_free", "MPI_Comm_create_group", "MPI_Comm_create_from_group",
}  # fmt: skip
_COLLECTIVE_OF_SHMEM = re.compile(
    r"shmem_(init\w*|finalize|(barrier|(team_)?sync|broadcast|f?collect|alltoall|\w+_reduce|\w+_to_all)\w*)$"
)
#: A program makes these once, so that a rank that pauses in one and one that runs in it are in the same call.
_ONCE = {*_native.calls_made_once(), "shmem_init", "shmem_init_thread", "shmem_finalize"}


@dataclass(frozen=True)
class Rank:
    rank: int
    process: int
    size: int | None
    threads: tuple[Thread, ...]
    host: str = ""  #: where several were looked at

    @property
    def inside(self) -> Thread | None:
        """Its thread that is in a call of the MPI."""
        return next((thread for thread in self.threads if at_of(thread.now, _CALL) is not None), None)

    @property
    def call(self) -> str | None:
        return _call(self.inside.now) if self.inside else None

    @property
    def stayed(self) -> bool:
        """Whether it was in one and the same call from the first look to the last."""
        thread = self.inside
        return (
            thread is not None
            and thread.before is not None
            and _call(thread.before) == self.call
            and (self.call in _ONCE or thread.stayed_in(_CALL))
        )

    @property
    def is_stopped(self) -> bool:
        """Whether all its threads were stopped from the first look to the last."""
        return bool(self.threads) and all(thread.stayed_stopped for thread in self.threads)

    @property
    def first(self) -> Thread | None:
        return next((thread for thread in self.threads if thread.thread == self.process), None)

    @property
    def is_outside(self) -> bool:
        """Whether it is seen to be in no call of the MPI. A stack that was read in part may hide one, and so may
        what seems to lie above syscall(), which saves no register, unless the thread's own were read."""
        first = self.first
        if first is None or self.call or not first.now.complete:
            return False
        guessed = first.frames[0].symbol == "syscall" and first.now.held_us is None
        return not guessed and any(frame.ours for frame in first.frames)

    @property
    def communicator(self) -> Communicator | None:
        """The communicator of the call it is in, where only one is seen there."""
        seen = self.inside.now.communicators if self.inside else ()
        return seen[0] if len(seen) == 1 else None

    @property
    def doing(self) -> str:
        if self.call:
            where = self.communicator
            own = f" (as its rank {where.rank})" if where and where.rank not in (-1, self.rank) else ""
            return self.call + (_of(where) + own if where and where.name != "MPI_COMM_WORLD" else "")
        first = self.first
        return (first.doing or first.state) if first else "unknown"


def _call(moment: Moment) -> str | None:
    at = at_of(moment, _CALL)
    if at is None:
        return None
    name = moment.frames[at].symbol.rstrip("_").removeprefix("ompi_")
    name = name[1:] if name[0] in "Pp" else name
    return name if name[0] in "Ms" else f"MPI_{name[4:].capitalize()}"


def _is_collective(call: str) -> bool:
    """Whether all ranks of one group come to it; an `_c` is the same call for large counts."""
    return call.removesuffix("_c") in _COLLECTIVE or bool(_COLLECTIVE_OF_SHMEM.match(call))


def _of(communicator: Communicator) -> str:
    return f" of {communicator.name or 'a communicator without a name'}"


@dataclass(frozen=True)
class Meeting:
    """A collective call that some ranks are in and others are not."""

    call: str
    ranks: int
    inside: tuple[Rank, ...]
    odd: tuple[Rank, ...]
    communicator: Communicator | None = None  #: where another one of the same call is what is odd
    gone: tuple[int, ...] = ()
    said: str = ""  #: of it, by the ranks themselves

    @property
    def sentence(self) -> str:
        if self.said:
            return self.said
        places = [f"rank {rank.rank}{on(rank.host)} is in {rank.doing}" for rank in self.odd]
        odd = ", ".join([*places, *(f"rank {rank} has no process with an MPI in its memory" for rank in self.gone)])
        are = "is" if len(self.inside) == 1 else "are"
        return f"{odd}; {len(self.inside)} of {self.ranks} {are} in {self.call}" + (
            _of(self.communicator) if self.communicator else ""
        )


def of_threads(rank_of: Mapping[int, tuple[int, int | None]], threads: Sequence[Thread], host: str = "") -> list[Rank]:
    """The ranks of a host; `rank_of` has the rank and the number of ranks of each process."""
    return sorted(
        (
            Rank(rank, process, size, tuple(thread for thread in threads if thread.process == process), host)
            for process, (rank, size) in rank_of.items()
        ),
        key=lambda rank: rank.rank,
    )


def conclude(ranks: Sequence[Rank], all_here: bool = False) -> Meeting | None:
    """The ranks that are not in the collective call that most ranks are in; None while anybody there moves. Ranks
    that are stopped or gone are then the only ones: the others may be elsewhere because of them. `all_here`: the job
    has no ranks on other hosts."""
    calls = Counter(rank.call for rank in ranks if rank.call and _is_collective(rank.call))
    if not calls or len(ranks) < 2:
        return None
    call = calls.most_common(1)[0][0]
    inside = tuple(rank for rank in ranks if rank.call == call)
    odd = tuple(rank for rank in ranks if rank.call != call and (rank.call or rank.is_outside))
    if not call or not all(rank.stayed for rank in inside):
        return None
    size = max(len(ranks), *(rank.size or 0 for rank in ranks))
    gone = tuple(sorted(set(range(size)) - {rank.rank for rank in ranks})) if all_here else ()
    stopped = tuple(rank for rank in ranks if rank.is_stopped)
    if stopped or gone:
        odd = tuple(rank for rank in odd if rank in stopped)
    elif not odd:
        return _elsewhere(call, size, inside)
    return Meeting(call, size, inside, odd, gone=gone) if odd or gone else None


def _elsewhere(call: str, size: int, ranks: Sequence[Rank]) -> Meeting | None:
    """The single rank that is in the call of another communicator than all the others."""
    numbers = Counter(rank.communicator.number for rank in ranks if rank.communicator)
    if len(ranks) < 3 or sorted(numbers.values()) != [1, len(ranks) - 1]:
        return None
    usual = numbers.most_common(1)[0][0]
    inside = tuple(rank for rank in ranks if rank.communicator and rank.communicator.number == usual)
    return Meeting(call, size, inside, tuple(rank for rank in ranks if rank not in inside), inside[0].communicator)

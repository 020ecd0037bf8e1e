# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job without an MPI, by the stacks of their main threads: in which place most wait, and which rank does
something else. A pure function from the members to a finding; places are folded into a prefix tree, as STAT does
(Arnold et al. 2007)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.look import calls
from tollbar.look.sight import Frame, Thread

#: States of a main thread from the first look to the last.
WAITS = "waits"  #: it slept on in a call that ends when another process, or another thread, does something
SLEEPS = "sleeps"  #: until a time or a signal
RUNS = "runs"
MOVES = "moves"  #: it slept, and woke in between
CHILD = "child"  #: it waits for a child's end
INPUT = "input"  #: it waits for what somebody types
STOPPED = "stopped"
IDLE = "idle"  #: it waits for work from a pool
UNKNOWN = "unknown"
BUSY = (SLEEPS, RUNS, MOVES, CHILD, INPUT)

_RUNNING, _UNREADABLE = -2, -3
#: Functions of Python libraries that return when all ranks have called them.
_COLLECTIVE = re.compile(
    r"torch/distributed/.*:(barrier|monitored_barrier|_store_based_barrier|all_reduce\w*|all_gather\w*|all_to_all\w*"
    r"|broadcast\w*|reduce\w*|gather\w*|scatter\w*|init_process_group|new_group|rendezvous)$"
    r"|horovod/.*:(allreduce\w*|allgather\w*|broadcast\w*|alltoall\w*|barrier)$"
    r"|jax/experimental/multihost_utils\.py:(sync_global_devices|broadcast_one_to_all|process_allgather)$"
)
#: Functions in which a worker of a pool waits for work.
_POOLS = {("multiprocessing/pool.py", "worker"), ("concurrent/futures/process.py", "_process_worker")}
_MOST_PLACES, _MOST_LISTED = 4, 8


@dataclass(frozen=True)
class JobMember:
    """A rank, or a process without one, by its main thread."""

    number: int  #: its rank, or its process where it has none
    process: int
    state: str
    place: str  #: in words
    path: tuple[tuple[str, str], ...] = ()  #: the program's own functions with their lines, the outermost first
    called: str = ""  #: the function of a library that the innermost of them has called
    is_together: bool = False  #: in a call that returns when all ranks have made it
    looks_after_children: bool = False
    thread: int = 0  #: that is looked at
    host: str = ""  #: where several were looked at

    @property
    def key(self) -> tuple[str, int]:
        """The key of its thread."""
        return self.host, self.thread

    def is_with(self, other: JobMember) -> bool:
        """Whether both are in one function that the same places have called. A function that nothing has called proves
        nothing, nor does one in which a program does all its work, unless both called the same from there."""
        if not any(name for name, _ in self.path):  # nothing has names here
            return self.place == other.place
        if self.path == other.path:
            return True
        same = self.path[:-1] == other.path[:-1] and self.path[-1][0] == other.path[-1][0]
        return same and len(self.path) > 1 and self.called == other.called != ""


@dataclass(frozen=True)
class Job:
    members: tuple[JobMember, ...]
    is_ranked: bool
    size: int = 0
    is_all_here: bool = False  #: the job has no members on other hosts
    ended: tuple[int, ...] = ()  #: members without ranks that are known to have ended
    is_guessed: bool = False  #: its members are only known to run the same program
    looked_at: str = "this host"  #: in words

    @property
    def absent(self) -> tuple[int, ...]:
        if not self.is_ranked:
            return self.ended
        return tuple(sorted(set(range(self.size)) - {member.number for member in self.members}))


@dataclass(frozen=True)
class Finding:
    """The places of a job's members. `odd`: those that the waiting may wait for, besides `gone` ones."""

    sentence: str
    waiting: tuple[JobMember, ...]
    odd: tuple[JobMember, ...] = ()
    gone: tuple[int, ...] = ()
    is_guess: bool = True
    is_most: bool = False  #: at least half of the job waits

    @property
    def names_somebody(self) -> bool:
        return bool(self.odd or self.gone)

    @property
    def key(self) -> tuple[object, ...]:
        """The same in two looks that have found the same, whatever the odd ones do."""
        waiting = [(member.number, member.path, member.called) for member in self.waiting]
        return tuple(waiting), tuple(member.number for member in self.odd), self.gone


def member(number: int, process: int, threads: Sequence[Thread]) -> JobMember:
    """The member that a process is, by all threads that were seen of it: by its main thread, as a rule."""
    first = next((thread for thread in threads if thread.thread == process), None)
    if first is None:
        return JobMember(number, process, UNKNOWN, "an unknown place")
    # A process whose main thread runs a library alone, such as Dask's, has its work in another one.
    working = [thread for thread in threads if any(map(_is_work, thread.frames))]
    if first not in working and len(working) == 1 and _state(first, len(first.frames)) != IDLE:
        [first] = working
    at = next((at for at, frame in enumerate(first.frames) if frame.ours), len(first.frames))
    own = [frame for frame in reversed(first.frames[at:]) if frame.ours]
    called = first.frames[at - 1] if own and at else None
    together = next((frame for frame in reversed(first.frames[:at]) if _is_collective(frame)), None)
    place = first.doing or first.state
    if together and own:
        place = f"{together.symbol} ({own[-1].source})"
    state = STOPPED if all(thread.stayed_stopped for thread in threads) else _state(first, at)
    path = tuple((frame.symbol, frame.source) for frame in own)
    looks_after = first.joins or first.waits_for_child
    of_library = str(called) if called else ""
    return JobMember(number, process, state, place, path, of_library, together is not None, looks_after, first.thread)


def _is_work(frame: Frame) -> bool:
    """Whether it is the program's, and not the line with which multiprocessing starts an interpreter."""
    return frame.ours and bool(frame.symbol) and frame.module != "<string>"


def _is_collective(frame: Frame) -> bool:
    return frame.of_library and bool(_COLLECTIVE.match(f"{frame.module}:{frame.symbol}"))


def _state(thread: Thread, innermost: int) -> str:
    old, new = thread.before, thread.now
    if old is None or _UNREADABLE in (old.call, new.call) or not thread.frames:
        return UNKNOWN
    if any((frame.module, frame.symbol) in _POOLS for frame in thread.frames[:innermost]):
        return IDLE
    if _RUNNING in (old.call, new.call):
        return RUNS
    if all(
        moment.call in calls.PAUSES or (moment.call in calls.SELECTS and not moment.arguments[0])
        for moment in (old, new)
    ):
        return SLEEPS
    if not thread.slept_on:
        return MOVES
    if thread.waits_for_child:
        return CHILD
    return INPUT if new.call in calls.READ and new.arguments[0] == 0 else WAITS


def together(parts: Sequence[Job], is_all_here: bool, looked_at: str) -> list[Job]:
    """The jobs of which hosts have seen these parts: one of all ranks; processes without ranks know no other host's.
    `is_all_here`: there are no others, whatever the parts say."""
    ranked = [part for part in parts if part.is_ranked]
    members = tuple(member for part in ranked for member in part.members)
    size = max((part.size for part in ranked), default=0)
    is_whole = is_all_here or any(part.is_all_here for part in ranked)
    job = Job(members, True, max(size, len(members)), is_whole, looked_at=looked_at)
    return [*([job] if ranked else []), *(part for part in parts if not part.is_ranked and part.members)]


def conclude(job: Job) -> Finding | None:
    """The members that others may wait for; a finding that names nobody where all of them wait, or are in places that
    tell nothing; None where nobody is seen to wait. Members that are stopped or gone are then the only ones that are
    named: the others may be elsewhere because of them."""
    if len(job.members) + len(job.absent) < 2 or not job.members:
        return None
    waiting = tuple(one for one in job.members if one.state == WAITS or (one.is_together and one.state in BUSY))
    busy = [one for one in job.members if one.state in BUSY and one not in waiting]
    stopped = tuple(one for one in job.members if one.state == STOPPED)
    gone = job.absent if job.is_all_here else ()
    if not waiting:
        # Processes without ranks may be at work each on its own, unless several sleep; ranks have something in common.
        polls = busy if job.is_ranked else [one for one in busy if one.state == SLEEPS]
        return Finding(_places(job, busy, (), polls=True), ()) if len(polls) > 1 and not stopped else None
    odd = tuple(one for one in busy if not any(one.is_with(other) for other in waiting))
    together = [one for one in waiting if one.is_together]
    is_meeting = 2 * len(together) > job.size
    if stopped or gone:
        odd = stopped
    elif not odd and is_meeting:
        odd = tuple(one for one in waiting if one not in together)
    waiting = tuple(one for one in waiting if one not in odd)
    is_guess = not stopped and (job.is_guessed or not is_meeting or len(together) < len(waiting))
    sentence = _places(job, waiting, odd, gone)
    if (odd or gone) and is_guess:
        sentence += "; a guess: stacks tell where they wait, and not for whom"
    return Finding(sentence, waiting, odd, gone, is_guess, 2 * len(waiting) >= job.size)


def _places(
    job: Job, waiting: Sequence[JobMember], odd: Sequence[JobMember], gone: Sequence[int] = (), *, polls: bool = False
) -> str:
    """The sentence that says where they are; those that most are with first. `polls`: none of them is seen to wait."""
    folded = _folded(waiting)
    end = "; none is seen that they wait for"
    end = "; a rank that waits by polling looks like one that computes" if polls and job.is_ranked else end
    if not odd and not gone and len(folded) == 1 and len(waiting) == job.size:
        noun = "ranks" if job.is_ranked else "processes"
        return f"all {job.size} {noun} are in one place, {folded[0][0]}{end}"
    of = f" of {job.size}" if job.is_ranked else ""
    clauses = []
    for place, members in folded:
        clauses.append(f"{_listed(job, [one.number for one in members], of)} in {place}")
        of = ""
    clauses += [
        f"{_listed(job, [one.number for one in members], '')} "
        + ("stopped in " if members[0].state == STOPPED else "in ")
        + place
        for place, members in _folded(odd)
    ]
    if gone and job.is_ranked:
        verb = "has" if len(gone) == 1 else "have"
        clauses.append(f"{_named(job, gone)} {verb} no process here: gone, or not yet started")
    elif gone:
        clauses.append(f"{_named(job, gone)} {'has' if len(gone) == 1 else 'have'} ended")
    elif job.absent:
        verbs = ("is", "has") if len(job.absent) == 1 else ("are", "have")
        clauses.append(f"{_named(job, job.absent)} {verbs[0]} not on {job.looked_at}, or {verbs[1]} ended")
    return "; ".join(clauses) + ("" if odd or gone else end)


def _listed(job: Job, numbers: Sequence[int], of: str) -> str:
    return f"{_named(job, numbers)}{of} {'is' if len(numbers) == 1 else 'are'}"


def _named(job: Job, numbers: Sequence[int]) -> str:
    one, many = ("rank", "ranks") if job.is_ranked else ("process", "processes")
    if not job.is_ranked and len(numbers) > _MOST_LISTED:
        return f"{len(numbers)} {many}"
    return f"{one if len(numbers) == 1 else many} {_native.listed(sorted(numbers))}"


def _folded(members: Iterable[JobMember]) -> list[tuple[str, list[JobMember]]]:
    """The places and who is there, the fullest first: leaves of the prefix tree of their stacks, cut nearer to its
    root where the leaves are too many for a sentence."""
    members = sorted(members, key=lambda one: one.number)
    depth = 1 + max((len(one.path) for one in members), default=0)
    while True:
        nodes: dict[str, list[JobMember]] = defaultdict(list)
        for one in members:
            nodes[_at_depth(one, depth)].append(one)
        if len(nodes) <= _MOST_PLACES or depth < 1:
            return sorted(nodes.items(), key=lambda node: -len(node[1]))
        depth -= 1


def _at_depth(one: JobMember, depth: int) -> str:
    if depth > len(one.path):
        return one.place
    return f"{one.path[depth - 1][0]}()" if depth else "several places"

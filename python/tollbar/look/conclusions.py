# SPDX-License-Identifier: Apache-2.0
"""Threads at a barrier, and threads that are not there, from what did not change between two looks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tollbar.look import calls
from tollbar.look.sight import PYTHON_BARRIER, STD_THREAD, Thread, at_of, is_outlined, on

_LIBGOMP = "OpenMP barrier (libgomp)"
_LIBOMP = "OpenMP barrier (libomp)"
_STD = "std::barrier (libstdc++)"
_KMPC_BARRIER = re.compile(r"__kmpc_barrier$")
_FORK_CALL = re.compile(r"__kmpc_fork_call$")
_MICROTASK = r"__kmp_invoke_microtask$"


#: The doubt about threads of which no other could be the missing ones, were it not for code outside of threads.
_OPTIMIZED = "the frames where those who wait began are optimized away"


@dataclass(frozen=True)
class Conclusion:
    """One barrier at which somebody has waited from the first look to the last."""

    what: str
    arrived: int
    expected: int
    waiting: tuple[Thread, ...]
    missing: tuple[Thread, ...] = ()
    doubt: str = ""  #: why nobody is named, or why who is named is a guess

    @property
    def is_certain(self) -> bool:
        """Whether somebody is missing who is no worker waiting for work."""
        return bool(self.missing) and self.doubt in ("", _OPTIMIZED)

    @property
    def sentence(self) -> str:
        start = f"{self.what}: {self.arrived} of {self.expected} have arrived"
        if not self.missing:
            return f"{start}; {self.doubt or 'the others are not in what was looked at'}"
        return f"{start}; {named(self.missing, self.doubt)}"


def named(missing: Sequence[Thread], doubt: str) -> str:
    """The end of a sentence that names those who are not there."""
    names = ", ".join(f"thread {thread.thread} ({thread.state}, {thread.doing or 'unknown'})" for thread in missing)
    return f"not there: {names}" + (f"; a guess: {doubt}" if doubt else "")


def conclude(threads: Sequence[Thread]) -> list[Conclusion]:
    """The conclusions about barriers in memory, and about those of which only frames tell."""
    return [*_counted(threads), *_libomp(threads), *_threading(threads)]


def stopped(threads: Sequence[Thread]) -> list[Thread]:
    """The first threads of processes that are stopped as a whole while others are not."""
    by_process: dict[tuple[str, int], list[Thread]] = defaultdict(list)
    for thread in threads:
        by_process[thread.owner].append(thread)
    still = [own[0] for own in by_process.values() if all(thread.stayed_stopped for thread in own)]
    return still if len(still) < len(by_process) else []


def of_stopped(still: Sequence[Thread], names: Mapping[tuple[str, int], str], processes: int) -> str:
    """The sentence about them; `names` has what processes are called."""
    clauses = ", ".join(
        f"{names.get(thread.owner, f'process {thread.process}{on(thread.host)}')} is stopped in "
        f"{thread.doing or 'unknown'}"
        for thread in still
    )
    return f"{clauses}; {processes - len(still)} of {processes} are not stopped"


def idle(threads: Sequence[Thread]) -> list[Thread]:
    """Workers of libgomp that wait for the next parallel region."""
    return [
        thread
        for waiting in _meetings(threads).values()
        if _is_libgomp(waiting) and not _in_region(waiting, threads)
        for thread in waiting
    ]


def moving(threads: Sequence[Thread]) -> list[Thread]:
    """Threads at barriers to which somebody has come, or which somebody has left, between the looks."""
    meetings = _meetings(threads).values()
    return [thread for waiting in meetings if not all(map(_stayed, waiting)) for thread in waiting]


def _is_libgomp(waiting: Sequence[Thread]) -> bool:
    return waiting[0].now.barriers[0].kind == _LIBGOMP


def _meetings(threads: Iterable[Thread]) -> dict[str, list[Thread]]:
    """The threads at each barrier."""
    meetings: dict[str, list[Thread]] = defaultdict(list)
    for thread in threads:
        if thread.barrier:
            meetings[thread.barrier.key].append(thread)
    return meetings


def _stayed(thread: Thread) -> bool:
    """Whether it waits in the round that it waited in before. A phase of std::barrier has 7 bits and comes
    round, so that only sleep says it."""
    if thread.slept_on:
        return True
    return thread.barrier is not None and thread.barrier.kind != _STD and _is_in_its_round(thread)


def waits_on(thread: Thread) -> bool:
    """Whether it has not woken from one look to the other, or only at a barrier of tollbar's whose counts, of 32 bits
    and more, say that nobody has come or left: Python's main thread wakes there to run handlers of signals."""
    own = thread.barrier is not None and thread.barrier.kind.startswith("tollbar")
    return thread.slept_on or (own and _is_in_its_round(thread))


def _is_in_its_round(thread: Thread) -> bool:
    return thread.before is not None and thread.now.barriers == thread.before.barriers


def _leaves(thread: Thread) -> bool:
    """Whether it was woken at a barrier of glibc, whose waiters never spin, and has had no processor since."""
    return thread.state == "runs" and any(
        frame.symbol == "pthread_barrier_wait" and frame.module.startswith(("libc.", "libpthread"))
        for frame in thread.frames
    )


def _counted(threads: Sequence[Thread]) -> Iterable[Conclusion]:
    meetings = _meetings(threads)
    at_barriers = {thread.thread for waiting in meetings.values() for thread in waiting}
    others = [thread for thread in threads if thread.thread not in at_barriers and not thread.has("__kmpc_barrier")]
    for waiting in meetings.values():
        barrier = waiting[0].now.barriers[0]
        if not 0 < barrier.arrived < barrier.expected or not all(map(_stayed, waiting)):
            continue
        if (
            len(
                {(one.now.barriers[0].kind, one.now.barriers[0].expected, one.now.barriers[0].round) for one in waiting}
            )
            > 1
        ):
            continue  # they contradict each other
        if _is_libgomp(waiting) and not _in_region(waiting, threads):
            continue
        what = f"{barrier.kind} at {barrier.at:#x}"
        if {thread.now.barriers[0].arrived for thread in waiting} != {len(waiting)}:
            doubt = f"{len(waiting)} wait here (the others in processes not looked at, or by `arrive` alone)"
            yield Conclusion(what, barrier.arrived, barrier.expected, tuple(waiting), doubt=doubt)
            continue
        shared = not barrier.key.startswith(f"{waiting[0].process}:")
        missing, doubt = not_there(waiting, others, barrier.expected - barrier.arrived, everywhere=shared)
        if any(map(_leaves, missing)):
            continue
        yield Conclusion(what, barrier.arrived, barrier.expected, tuple(waiting), missing, doubt)


def _in_region(waiting: Sequence[Thread], threads: Sequence[Thread]) -> bool:
    """Whether a parallel region is under way; idle workers wait at a barrier like any other. A call such as
    omp_get_wtime() makes none."""
    processes = {thread.process for thread in waiting}
    return any(
        is_outlined(frame.symbol) or frame.symbol.startswith("GOMP_parallel")
        or (frame.module.startswith("libgomp") and not frame.symbol.startswith("omp_") and _is_master(thread))
        for thread in threads
        if thread.process in processes
        for frame in thread.frames
    )  # fmt: skip


def _is_master(thread: Thread) -> bool:
    """Whether the program itself called OpenMP: libgomp is not what started the thread."""
    outermost = [frame for frame in thread.frames if frame.ours or frame.module.startswith("libgomp")]
    return bool(outermost) and outermost[-1].ours


def not_there(
    waiting: Sequence[Thread], others: Sequence[Thread], lacking: int, *, everywhere: bool = False
) -> tuple[tuple[Thread, ...], str]:
    """Threads that may be missing, the nearest first, and why that is a guess. `everywhere`: other processes may come
    as well."""
    processes = {thread.process for thread in waiting}
    origins = frozenset().union(*(thread.origins for thread in waiting))
    there = [
        thread for thread in others
        if thread.process in processes or (everywhere and not thread.waits_for_child)
    ]  # fmt: skip
    free = [thread for thread in there if not thread.joins and not thread.of_runtime]
    unknown = STD_THREAD in origins
    near = [thread for thread in free if thread.origins & origins or (unknown and thread.of_std_thread)]
    far = [thread for thread in free if thread not in near]
    if len(near) == lacking:
        return tuple(near), _OPTIMIZED if unknown else ""
    if len(near) > lacking:
        return tuple(near), f"{lacking} of these {len(near)} may be missing"
    if len(near) + len(far) == lacking:
        return (*near, *far), "they began elsewhere than those who wait"
    if not near and not far:
        gone = (
            "did not start, have ended, or are in processes not looked at"
            if everywhere
            else "did not start, or have ended"
        )
        return (), f"no thread is left that might come: {lacking} {gone}"
    return (*near, *far), f"{lacking} are missing, and {len(near)} began where those who wait did"


def _libomp(threads: Sequence[Thread]) -> Iterable[Conclusion]:
    """LLVM's run-time library has no count in the open: the team are the threads in one outlined function."""
    why = "this library shows no count, only frames"
    explicit: dict[tuple[int, int], list[Thread]] = defaultdict(list)
    for thread in threads:
        at = at_of(thread.now, _KMPC_BARRIER)
        if at is not None and at + 1 < len(thread.frames) and not thread.barrier:  # the door shows a count
            explicit[thread.process, thread.frames[at + 1].at].append(thread)
    for (process, _), waiting in explicit.items():
        team = frozenset().union(*(_outlined(thread) for thread in waiting))
        missing = [
            thread
            for thread in threads
            if thread.process == process and _outlined(thread) & team and thread.has(_MICROTASK)
            and not thread.has("__kmpc_barrier$")
        ]  # fmt: skip
        if missing and all(thread.stayed_in(_KMPC_BARRIER) for thread in waiting):
            count = len(waiting)
            yield Conclusion(_LIBOMP, count, count + len(missing), tuple(waiting), tuple(missing), why)
    if explicit:
        return
    for master in threads:
        if not master.has(_FORK_CALL.pattern) or master.has(_MICROTASK) or not master.stayed_in(_FORK_CALL):
            continue
        missing = [thread for thread in threads if thread.process == master.process and thread.has(_MICROTASK)]
        if missing:
            what = "OpenMP end of region (libomp)"
            yield Conclusion(what, 1, 1 + len(missing), (master,), tuple(missing), why)


def _threading(threads: Sequence[Thread]) -> Iterable[Conclusion]:
    """Python's barriers: the frames have the object's address in place of their own, but not its count."""
    meetings: dict[tuple[int, int], list[Thread]] = defaultdict(list)
    for thread in threads:
        for at in {frame.at for frame in thread.frames if frame.symbol == PYTHON_BARRIER and frame.at}:
            meetings[thread.process, at].append(thread)
    for (_, at), waiting in meetings.items():
        others = [thread for thread in threads if not thread.has(PYTHON_BARRIER)]
        origins = frozenset().union(*(thread.origins for thread in waiting))
        near = [thread for thread in others if thread.process == waiting[0].process and thread.origins & origins]
        if near and all(thread.slept_on for thread in waiting):
            what, count = f"threading.Barrier at {at:#x}", len(waiting)
            why = "they began where those who wait did; the barrier's own count is not read"
            yield Conclusion(what, count, count + len(near), tuple(waiting), tuple(near), why)


def _outlined(thread: Thread) -> frozenset[str]:
    return frozenset(frame.symbol for frame in thread.frames if is_outlined(frame.symbol))


_UNREADABLE = -3
_POLLS = re.compile(r"(\w+ )?tollbar::detail::")
_MOST_NAMED = 4


def unexplained(threads: Sequence[Thread], explained: Collection[tuple[str, int]]) -> str | None:
    """Why it cannot be told that nobody is missing, where nobody was found: threads that wait for something
    that is not known. `explained`: the keys of those of which it is known."""
    rest = [thread for thread in threads if thread.key not in explained]
    unread = [thread for thread in rest if thread.now.call == _UNREADABLE and not thread.frames]
    waiting = [thread for thread in rest if thread not in unread and _waits(thread)]
    clauses = [
        f"{what}: " + ", ".join(f"{one.called} ({one.doing or one.name})" for one in which[:_MOST_NAMED])
        + (f" and {len(which) - _MOST_NAMED} more" if len(which) > _MOST_NAMED else "")
        for what, which in (("could not be read", unread), ("wait for something unknown", waiting))
        if which
    ]  # fmt: skip
    return "; ".join(clauses) or None


def _waits(thread: Thread) -> bool:
    if thread.state == "runs":
        return any(_POLLS.match(frame.symbol) for frame in thread.frames)
    return thread.slept_on and thread.now.call not in calls.SLEEPS and not (thread.joins or thread.waits_for_child)

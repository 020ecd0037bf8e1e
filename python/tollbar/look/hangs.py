# SPDX-License-Identifier: Apache-2.0
"""Waits that are no longer believed: a report has come again, or nothing has moved between looks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar import _native
from tollbar.backports import zip_equal
from tollbar.look import calls, conclusions, jobs, members, processes, pythons, ranks, sight

#: A report has come again when that much of a time-out has passed since it came first: after the whole job
#: was stopped, reports follow each other at once.
_AGAIN = 0.5


@dataclass
class _Wait:
    report: _native.Missing  #: the newest one
    since: float
    newest: float

    @property
    def is_known(self) -> bool:
        """Whether it is the same wait, whoever has seen it for how long."""
        return self.report.wait.startswith(("at ", "in "))

    @property
    def barrier(self) -> str:
        """The same in all waits at one barrier. One that only counts threads has no name: others may be called from the
        same place."""
        return self.report.wait if self.is_known or self.report.arrived else self.report.about

    @property
    def call(self) -> tuple[str, int] | None:
        """The communicator and number, of a collective call of an MPI."""
        kind, *words = self.report.wait.split()
        return (words[0], int(words[1])) if kind == "at" else None


@dataclass
class Reports:
    """The reports of a job."""

    timeout_s: float
    over: set[str] = field(default_factory=set)  #: waits of ranks that have reported a later call since
    _waits: dict[str, _Wait] = field(default_factory=dict)

    def add(self, report: _native.Missing, clock: float) -> str | None:
        """Takes a report; gives what stands for its wait when that was reported a time-out ago as well, with
        the same waiter and the same missing, and no other wait has begun at that barrier meanwhile."""
        key, new = f"{report.wait} {report.named} {report.arrived}", _Wait(report, clock, clock)
        call = new.call
        for old, other in list(self._waits.items()):
            if call and other.call and call[0] == other.call[0] and call[1] > other.call[1]:
                del self._waits[old]
                self.over.add(old)
        self.over.discard(key)
        known = self._waits.get(key)
        # A wait that has lasted less long began anew; but of one that is known another rank may have seen less.
        if known is None or not (new.is_known or report.waited_s > known.report.waited_s):
            self._waits[key] = new
            return None
        new.since = known.since
        self._waits[key] = new
        begun = [other.since for other in self._waits.values() if other.barrier == new.barrier]
        return key if all(clock - since >= _AGAIN * self.timeout_s for since in begun) else None

    def are_of_one(self, key: str, other: str) -> bool:
        """Whether both stand for waits at one barrier."""
        one, two = self._waits.get(key), self._waits.get(other)
        return one is not None and two is not None and one.barrier == two.barrier

    def since(self, clock: float) -> list[str]:
        """The keys of the waits that were reported then or later."""
        return [key for key, wait in self._waits.items() if wait.newest >= clock]

    def of(self, keys: Collection[str]) -> list[_native.Missing]:
        """The newest reports of these waits."""
        return [self._waits[key].report for key in keys if key in self._waits]

    def sentences(self, keys: Collection[str]) -> list[str]:
        """The sentences that say together what the reports of these waits say, one a barrier; a wait that no report is
        about is its own."""
        barriers = dict.fromkeys(self._waits[key].barrier for key in keys if key in self._waits)
        at = [[wait for wait in self._waits.values() if wait.barrier == barrier] for barrier in barriers]
        newest = [max(waits, key=lambda wait: wait.newest) for waits in at]
        said = [
            one.report.text if one.is_known else " | ".join(wait.report.text for wait in waits)
            for one, waits in zip_equal(newest, at)
        ]
        return [*said, *(key for key in keys if key not in self._waits)]


def meeting(report: _native.Missing, job: Sequence[ranks.Rank]) -> ranks.Meeting:
    """The meeting that a report is about, of ranks that a look has seen just before."""
    odd = tuple(rank for rank in job if rank.rank in report.named)
    waiting = tuple(rank for rank in job if rank.stayed and rank not in odd)
    return ranks.Meeting(report.about, len(job), waiting, odd, said=report.text)


def absent(report: _native.Missing, threads: Sequence[sight.Thread]) -> str | None:
    """The threads that a report misses which names those that have arrived."""
    waiting = [thread for thread in threads if thread.thread in report.arrived]
    if not waiting or len(waiting) != len(report.arrived):
        return None
    others = [thread for thread in threads if thread.thread not in report.arrived]
    missing, doubt = conclusions.not_there(waiting, others, report.lacking)
    return conclusions.named(missing, doubt) if missing else None


_PRIVATE, _NO_TIMEOUT = 0x80, 0


@dataclass
class Looks:
    """Looks at one job, a time-out apart."""

    by_launcher: bool  #: of MPI, on which other hosts' ranks may depend
    _last: Mapping[str, Any] | None = None
    _found: tuple[tuple[object, ...], str] | None = None  #: by the stacks of a job's ranks: its key and its sentence

    def forget(self) -> None:
        """The next look is the first."""
        self._last = self._found = None

    def add(
        self,
        document: Mapping[str, Any],
        rank_of: Mapping[int, tuple[int, int | None]],
        everything: dict[int, processes.Process],
    ) -> list[str]:
        """Takes a look, the rank and number of ranks of each process that is a rank, and all processes; gives what
        has held since the last look, in sentences."""
        look = document["looks"][-1]
        if self._last is None:
            self._last = look
            return []
        seen = sight.read({"looks": [self._last, look]})
        of_ranks = self.by_launcher or rank_of
        held = _start(ranks.of_threads(rank_of, seen.threads)) if of_ranks else unmoved(seen.threads, everything)
        self._last = look
        return held or _groups(seen) or ([] if rank_of else self._by_stacks(seen, everything))

    def _by_stacks(self, seen: sight.Sight, everything: dict[int, processes.Process]) -> list[str]:
        """The sentence about a rank for which at least half of a job without an MPI has waited from one look to the
        other, asleep all the time. It is the one of the first such look, as the rank itself may move. Processes without
        ranks may wait for work."""
        rank_of = members.ranked({thread.process for thread in seen.threads}, everything)
        threads, _ = pythons.named(seen.threads) if rank_of else ([], [])
        finding = jobs.conclude(members.of_job(rank_of, threads, everything)) if rank_of else None
        lasting = finding and finding.names_somebody and all(one.state == jobs.WAITS for one in finding.waiting)
        if not finding or not lasting or not finding.is_most:
            self._found = None
            return []
        if self._found is None or self._found[0] != finding.key:
            self._found = finding.key, finding.sentence
        return [self._found[1]]


def _groups(seen: sight.Sight) -> list[str]:
    """The sentences about groups of tollbar's in which somebody is missing, and in which the job has a part."""
    own = {thread.process for thread in seen.threads}
    return [
        group.sentence
        for group in seen.groups
        if group.sentence and own & {member.process for member in (*group.missing, *group.arrived)}
    ]


def _start(job: Sequence[ranks.Rank]) -> list[str]:
    """The sentence about ranks that others wait for in MPI_Init, which is called once: of no other call can a
    look tell whether a rank that runs in it waits on or waits again."""
    meeting = ranks.conclude(job)
    return [meeting.sentence] if meeting and meeting.call.startswith("MPI_Init") else []


def unmoved(threads: Sequence[sight.Thread], everything: dict[int, processes.Process]) -> list[str]:
    """Sentences about threads that have slept from one look to the other without once waking: at a barrier
    whose missing are certain, beside a process that is stopped, or in a job in which no thread is left to wake
    another."""
    certain = [
        one.sentence
        for one in conclusions.conclude(threads)
        if one.is_certain and all(map(conclusions.waits_on, one.waiting))
    ]
    return certain or _stopped(threads, everything) or _deadlock(threads)


def _stopped(threads: Sequence[sight.Thread], everything: dict[int, processes.Process]) -> list[str]:
    """Processes that are stopped as a whole, while no first thread of another one has woken. The processes that
    started them may wake: they look after these."""
    still = conclusions.stopped(threads)
    set_apart = {above for thread in still for above in processes.upwards(thread.process, everything)}
    rest = [thread for thread in threads if thread.thread == thread.process and thread.process not in set_apart]
    if not still or not rest or not all(thread.slept_on for thread in rest):
        return []
    return [conclusions.of_stopped(still, {}, len({thread.owner for thread in threads}))]


def _deadlock(threads: Sequence[sight.Thread]) -> list[str]:
    """All threads of all processes wait for locks of their own process, without a limit, or for children."""
    locks = [thread for thread in threads if _waits_for_a_lock(thread)]
    rest = [thread for thread in threads if thread not in locks]
    if not locks or not all(thread.slept_on and thread.now.call in calls.CHILDREN for thread in rest):
        return []
    names = ", ".join(f"thread {thread.thread} ({thread.doing or 'unknown'})" for thread in locks[:4])
    more = f" and {len(locks) - 4} more" if len(locks) > 4 else ""
    return [f"no thread is left that could wake another: {names}{more} wait for locks or conditions"]


def _waits_for_a_lock(thread: sight.Thread) -> bool:
    moment = thread.now
    return (
        thread.slept_on
        and thread.state == "asleep"
        and moment.call in calls.FUTEX
        and bool(moment.arguments[1] & _PRIVATE)
        and moment.arguments[3] == _NO_TIMEOUT
    )

# SPDX-License-Identifier: Apache-2.0
"""Waits that are no longer believed: a report has come again, or nothing has moved between looks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar.look import conclusions, gathered, jobs, members, processes, pythons, ranks, sight

_WAITED = re.compile(r"\bwaited (\d+(?:\.\d+)?) s\b")
#: That of a collective call is the same wherever it was called; a place may have colons itself.
_BARRIER = re.compile(
    r"(?P<barrier>.+? \(\d+ ranks\), (?:\S+ \d+(?= at )|.*?(?=: rank )))(?:(?<=\d) at .*?)?"
    r"(?P<waiter>: rank \d+(?: \([^()]*\))?(?: on \S+)? has waited)"
)
_RANKS = r"ranks? (?P<ranks>\d+(?:-\d+)?(?:(?:, | and )\d+(?:-\d+)?\b(?! more))*)"
_CLAUSE = re.compile(rf"(?:nothing heard from )?{_RANKS}")
#: Behind "gone on is": they have left the call, and others may wait for them in it.
_STANDS_STILL = re.compile(rf"{_RANKS} \((?:dead|stopped)\b")
#: A report has come again when that much of a time-out has passed since it came first: after the whole job
#: was stopped, reports follow each other at once.
_AGAIN = 0.5


@dataclass
class _Wait:
    barrier: str
    text: str  #: of the newest report
    waited_s: float
    since: float
    newest: float
    call: tuple[str, str, int]  #: that the line has
    known: str  #: by this, where its lines have it


@dataclass
class Reports:
    """The report lines of a job."""

    timeout_s: float
    over: set[str] = field(default_factory=set)  #: waits of a host whose ranks have reported a later call since
    _waits: dict[str, _Wait] = field(default_factory=dict)

    def add(self, line: gathered.Line, clock: float) -> str | None:
        """Takes a line; gives what stands for its wait when that was reported a time-out ago as well, with
        the same waiter and the same missing, and no other wait has begun at that barrier meanwhile."""
        waited = _WAITED.search(line.text) if line.shown else None
        if not waited:
            return None
        barrier, key = _told(line.text, waited)
        seconds = float(waited[1])
        comm, host, number = line.call
        for old, other in list(self._waits.items()):
            if (comm, host) == other.call[:2] and number > other.call[2]:
                del self._waits[old]
                self.over.add(old)
        self.over.discard(key)
        wait = self._waits.get(key)
        # A wait that has lasted less long began anew; but of one that is known another rank may have seen less.
        if wait is None or not (line.wait == wait.known if line.wait else seconds > wait.waited_s):
            self._waits[key] = _Wait(barrier, line.text, seconds, clock, clock, line.call, line.wait)
            return None
        wait.text, wait.waited_s, wait.newest = line.text, seconds, clock
        begun = [other.since for other in self._waits.values() if other.barrier == barrier]
        return key if all(clock - since >= _AGAIN * self.timeout_s for since in begun) else None

    def are_of_one(self, key: str, other: str) -> bool:
        """Whether both stand for waits at one barrier."""
        one, two = self._waits.get(key), self._waits.get(other)
        return one is not None and two is not None and one.barrier == two.barrier

    def since(self, clock: float) -> list[str]:
        """The keys of the waits that were reported then or later."""
        return [key for key, wait in self._waits.items() if wait.newest >= clock]

    def sentences(self, keys: Collection[str], hosts: gathered.Hosts) -> list[str]:
        """The sentences that say together what the lines about these waits say, one a barrier; a wait that no line is
        about is its own."""
        barriers = dict.fromkeys(self._waits[key].barrier for key in keys if key in self._waits)
        at = [[wait for wait in self._waits.values() if wait.barrier == barrier] for barrier in barriers]
        said = [hosts.sentence(waits[0].call[0]) or " | ".join(one.text for one in waits) for waits in at]
        return [*said, *(key for key in keys if key not in self._waits)]


def _told(text: str, waited: re.Match[str]) -> tuple[str, str]:
    """The barrier of a report, and what stays the same in the reports of one wait with the same missing, whatever
    these do. Each clause begins with the ranks of which it tells something."""
    head = _BARRIER.match(text)
    names = sorted(named(text))
    key = (
        f"{head['barrier']}{head['waiter']} {names}"
        if head and names
        else text[: waited.start(1)] + text[waited.end(1) :]
    )
    return head["barrier"] if head else key, key


def named(report: str) -> set[int]:
    """The ranks of which a report tells something, besides the one that waits; ranks that have come and gone on are
    such if they are dead or stopped."""
    said = _WAITED.split(report)[-1]
    matches = [*map(_CLAUSE.match, re.split(r"; |: ", said)), *_STANDS_STILL.finditer(said.partition("gone on ")[2])]
    ranges = [ends for match in matches if match for ends in re.findall(r"(\d+)(?:-(\d+))?", match["ranks"])]
    return {number for first, last in ranges for number in range(int(first), int(last or first) + 1)}


def meeting(report: str, job: Sequence[ranks.Rank]) -> ranks.Meeting:
    """The meeting that a report is about, of ranks that a look has seen just before."""
    missing = named(report)
    odd = tuple(rank for rank in job if rank.rank in missing)
    waiting = tuple(rank for rank in job if rank.stayed and rank not in odd)
    said = _WAITED.sub("waits", report.replace(" has waited", " waited"))
    return ranks.Meeting(report.partition(" at ")[0], len(job), waiting, odd, said=said)


_ARRIVED = re.compile(r"(\d+) of \d+ threads have not arrived, threads? ([^:]*?) ha(?:s|ve)$")


def names_the_arrived(report: str) -> bool:
    """Whether it is a report of a pthread barrier that names those that have arrived, and not the missing."""
    return bool(_ARRIVED.search(report))


def absent(report: str, threads: Sequence[sight.Thread]) -> str | None:
    """The threads that a report of a pthread barrier misses, when it names those that have arrived."""
    match = _ARRIVED.search(report)
    arrived = {int(number) for number in re.findall(r"\d+", match[2])} if match else set()
    waiting = [thread for thread in threads if thread.thread in arrived]
    if not match or len(waiting) != len(arrived):
        return None
    others = [thread for thread in threads if thread.thread not in arrived]
    missing, doubt = conclusions.not_there(waiting, others, int(match[1]))
    return conclusions.named(missing, doubt) if missing else None


#: System calls of x86-64 that return only when a process of the job's own does something.
_FUTEX, _WAIT4, _WAITID = 202, 61, 247
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
        sentence
        for group in seen.groups
        if own & {member.process for member in (*group.missing, *group.arrived)}
        and (sentence := conclusions.of_group(group))
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
    return [conclusions.of_stopped(still, {}, len({thread.process for thread in threads}))]


def _deadlock(threads: Sequence[sight.Thread]) -> list[str]:
    """All threads of all processes wait for locks of their own process, without a limit, or for children."""
    locks = [thread for thread in threads if _waits_for_a_lock(thread)]
    rest = [thread for thread in threads if thread not in locks]
    if not locks or not all(thread.slept_on and thread.now.call in (_WAIT4, _WAITID) for thread in rest):
        return []
    names = ", ".join(f"thread {thread.thread} ({thread.doing or 'unknown'})" for thread in locks[:4])
    more = f" and {len(locks) - 4} more" if len(locks) > 4 else ""
    return [f"no thread is left that could wake another: {names}{more} wait for locks or conditions"]


def _waits_for_a_lock(thread: sight.Thread) -> bool:
    moment = thread.now
    return (
        thread.slept_on
        and thread.state == "asleep"
        and moment.call == _FUTEX
        and bool(moment.arguments[1] & _PRIVATE)
        and moment.arguments[3] == _NO_TIMEOUT
    )

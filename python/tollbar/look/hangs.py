# SPDX-License-Identifier: Apache-2.0
"""Waits that are no longer believed: a report has come again, or nothing has moved between looks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar.look import conclusions, ranks, sight

_WAITED = re.compile(r"\bwaited (\d+(?:\.\d+)?) s\b")
_BARRIER = re.compile(
    r"(?P<barrier>.+? \((?P<ranks>\d+) ranks\), [^:]*?\w)(?: at [^:]*)?"
    r": rank (?P<by>\d+)(?: \([^()]*\))?(?: on (?P<host>\S+))? has waited"
)
_CLAUSE = re.compile(
    r"(?P<unheard>nothing heard from )?ranks? (?P<ranks>\d+(?:(?:, | and )\d+)*)"
    r"(?P<where> \([^()]*\))?"
)
#: A report has come again when that much of a time-out has passed since it came first: after the whole job
#: was stopped, reports follow each other at once.
_AGAIN = 0.5


@dataclass
class _Wait:
    text: str  #: of the newest report
    waited_s: float
    since: float


@dataclass
class Reports:
    """The report lines of a job."""

    timeout_s: float
    _waits: dict[str, _Wait] = field(default_factory=dict)

    def add(self, line: str, clock: float) -> str | None:
        """Takes a line; gives what stands for its wait when that was reported a time-out ago as well, with
        the same waiter and the same missing, and no other wait has begun at that barrier meanwhile."""
        text = line.partition("tollbar: ")[2].strip()
        waited = _WAITED.search(text)
        if not waited:
            return None
        key = _key(text, waited)
        seconds = float(waited[1])
        wait = self._waits.get(key)
        if wait is None or seconds <= wait.waited_s:  # another wait: they all begin at 0
            self._waits[key] = _Wait(text, seconds, clock)
            return None
        wait.text, wait.waited_s = text, seconds
        here = (each for each in self._waits.values() if _barrier(each.text) == _barrier(text))
        return key if all(clock - each.since >= _AGAIN * self.timeout_s for each in here) else None

    def sentences(self, keys: Collection[str]) -> list[str]:
        """The sentences that say together what the lines about these waits say, one a barrier."""
        at: dict[str, list[str]] = {_barrier(self._waits[key].text): [] for key in keys if key in self._waits}
        for wait in self._waits.values():
            at.get(_barrier(wait.text), []).append(wait.text)
        return [together(lines) for lines in at.values()]


def _key(text: str, waited: re.Match[str]) -> str:
    """The part that stays the same in the reports of one wait with the same missing, whatever these do."""
    head = _BARRIER.match(text)
    names = sorted({each.rank for each in _named(text)}) if head else []
    return f"{head[0]} {names}" if head and names else text[: waited.start(1)] + text[waited.end(1) :]


def _barrier(text: str) -> str:
    found = _BARRIER.match(text)
    return found["barrier"] if found else text


@dataclass(frozen=True)
class _Named:
    rank: int
    where: str  #: in parentheses; empty where it is about several ranks
    host: str
    unheard: bool  #: nothing is known but that no signal has come from there


def _named(text: str) -> list[_Named]:
    """The ranks of which the clauses of a report tell something, each of which begins with its ranks."""
    waited = _WAITED.search(text)
    found = []
    for clause in text[waited.end() :].lstrip(": ").split("; ") if waited else ():
        if not (names := _CLAUSE.match(clause)):
            continue
        numbers = [int(number) for number in re.findall(r"\d+", names["ranks"])]
        where = re.sub(r"\(rank [\d, and]* of MPI_COMM_WORLD(, )?", "(", names["where"] or "")
        host = re.search(r"\bhost ([^\s,)]+)", where)
        shown = where.replace(" ()", "") if len(numbers) == 1 else ""
        found += [_Named(each, shown, host[1] if host else "", bool(names["unheard"])) for each in numbers]
    return found


def together(lines: Sequence[str]) -> str:
    """One sentence from the lines of several hosts about one barrier. What a host says of its own ranks is
    exact; of hosts that write nothing, missing are the ranks of which no line has heard. A single line, and
    lines that name nobody, stay as they are."""
    heads = [head for line in lines if (head := _BARRIER.match(line))]
    if len(lines) == 1 or len(heads) < len(lines):
        return " | ".join(lines)
    named = [_named(line) for line in lines]
    missing = {each.rank: each for line in named for each in line if not each.unheard}
    silent = [{each.rank for each in line} for line in named if any(each.unheard for each in line)]
    hosts = {head["host"] for head in heads}
    for each in (each for line in named for each in line if each.unheard and each.host not in hosts):
        known = missing.setdefault(each.rank, each) if all(each.rank in one for one in silent) else each
        if len(known.where) < len(each.where):
            missing[each.rank] = each
    for head in heads:
        missing.pop(int(head["by"]), None)
    if not missing:
        return " | ".join(lines)
    names = ", ".join(f"rank {rank}{each.where}" for rank, each in sorted(missing.items()))
    return f"{heads[0]['barrier']}: missing of {heads[0]['ranks']}: {names} (from {len(lines)} reports)"


_ARRIVED = re.compile(r"(\d+) of \d+ threads have not arrived, threads? ([^:]*?) ha(?:s|ve)$")


def absent(report: str, threads: Sequence[sight.Thread]) -> str | None:
    """The threads that a report of a pthread barrier misses, when it names those that have arrived."""
    found = _ARRIVED.search(report)
    arrived = {int(number) for number in re.findall(r"\d+", found[2])} if found else set()
    waiting = [each for each in threads if each.thread in arrived]
    if not found or len(waiting) != len(arrived):
        return None
    others = [each for each in threads if each.thread not in arrived]
    missing, doubt = conclusions.not_there(waiting, others, int(found[1]))
    return conclusions.named(missing, doubt) if missing else None


#: System calls of x86-64 that return only when a process of the job's own does something.
_FUTEX, _WAIT4, _WAITID = 202, 61, 247
_PRIVATE, _NO_TIMEOUT = 0x80, 0


@dataclass
class Looks:
    """Looks at one job, a time-out apart."""

    by_launcher: bool  #: of MPI, on which other hosts' ranks may depend
    _last: Mapping[str, Any] | None = None

    def add(self, document: Mapping[str, Any], found: Mapping[int, tuple[int, int | None]]) -> list[str]:
        """Takes a look, and the rank and number of ranks of each process that is a rank; gives what has held
        since the last look, in sentences."""
        look = document["looks"][-1]
        if self._last is None:
            self._last = look
            return []
        threads = sight.read({"looks": [self._last, look]}).threads
        of_ranks = self.by_launcher or found
        held = _start(ranks.of_threads(found, threads)) if of_ranks else unmoved(threads)
        self._last = look
        return held


def _start(job: Sequence[ranks.Rank]) -> list[str]:
    """The sentence about ranks that others wait for in MPI_Init, which is called once: of no other call can a
    look tell whether a rank that runs in it waits on or waits again."""
    meeting = ranks.conclude(job)
    return [meeting.sentence] if meeting and meeting.call.startswith("MPI_Init") else []


def unmoved(threads: Sequence[sight.Thread]) -> list[str]:
    """Sentences about threads that have slept from one look to the other without once waking: at a barrier
    whose missing are certain, or in a job in which no thread is left to wake another."""
    found = [
        one.sentence
        for one in conclusions.conclude(threads)
        if one.missing and not one.doubt and all(each.slept_on for each in one.waiting)
    ]
    return found or _deadlock(threads)


def _deadlock(threads: Sequence[sight.Thread]) -> list[str]:
    """All threads of all processes wait for locks of their own process, without a limit, or for children."""
    locks = [each for each in threads if _waits_for_a_lock(each)]
    rest = [each for each in threads if each not in locks]
    if not locks or not all(each.slept_on and each.now.call in (_WAIT4, _WAITID) for each in rest):
        return []
    names = ", ".join(f"thread {each.thread} ({each.doing or 'unknown'})" for each in locks[:4])
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

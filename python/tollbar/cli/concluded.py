# SPDX-License-Identifier: Apache-2.0
"""The rows of `tollbar who`, and what is concluded from a look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.cli.table import Table, column
from tollbar.look import conclusions, hangs, jobs, pythons, ranks, sight
from tollbar.look.facts import Facts
from tollbar.machine import hostnames

#: A host, and the number of a thread or a process there.
Key = tuple[str, int]
#: A sentence has the number of more ranks.
_MOST_LISTED = 8


@dataclass(frozen=True)
class Seen:
    """A thread, or a member of a group of tollbar's that is not among those looked at."""

    process: int | None = column("whose thread it is")
    rank: int | None = column("in its job, or its group of tollbar")
    thread: int | None = column("the kernel's number")
    name: str | None = column("of the thread")
    state: str = column("asleep, runs, stopped or unknown; of a group's member: running, left, dead, never joined")
    part: str | None = column("waits, missing, guess (may be missing), idle (OpenMP worker)")
    doing: str = column("the call it is in, and the function of the program that made it")
    asleep_s: float | None = column("for how long")
    barrier: str | None = column("at which it waits or is missed", detail=True)
    conclusion: str | None = column("the sentence that names who is missing", detail=True)
    held_us: float | None = column("how long this look has stopped it", detail=True)
    frames: str = column("the innermost first", detail=True)
    host: str | None = column("where several were looked at")


@dataclass(frozen=True)
class _Alike:
    """Threads that do the same: a line for people, with the columns of Seen."""

    process: str
    rank: str | None
    thread: str
    name: str | None
    state: str
    part: str | None
    doing: str
    asleep_s: float | None
    host: str | None


@dataclass(frozen=True)
class _Part:
    part: str
    barrier: str
    sentence: str | None


def table_of(
    facts: Sequence[Facts],
    calls: Sequence[_native.Missing] = (),
    everything: bool = False,
    silent: Mapping[str, str] | None = None,
    all_hosts: bool = False,
) -> Table:
    """The table of what looks at one host, or at several at a time, have seen. `calls`: what ranks that keep account of
    their calls say; `everything`: groups of tollbar's count that nobody has named; `silent`: hosts that have not
    answered, and why; `all_hosts`: these and those are all hosts of the job."""
    return _Concluding(facts, everything, silent or {}, all_hosts).table(calls)


class _Concluding:
    def __init__(self, facts: Sequence[Facts], everything: bool, silent: Mapping[str, str], all_hosts: bool) -> None:
        self._facts, self._everything, self._silent = facts, everything, silent
        self._threads = [thread for own in facts for thread in own.seen.threads]
        self._ranks = sorted(
            (rank for own in facts for rank in ranks.of_threads(own.rank_of, own.seen.threads, own.host)),
            key=lambda rank: rank.rank,
        )
        self._looked_at = "this host" if not any(own.host for own in facts) else "a host that has answered"
        is_whole = any(own.is_whole for own in facts) or (all_hosts and not silent)
        self._is_whole = is_whole  #: no rank is elsewhere
        self._jobs = jobs.together([own.job for own in facts], is_whole, self._looked_at)
        self._parts: dict[Key, _Part] = {}
        self._notes: list[str] = []
        self._failed = False
        self._own_rank: dict[Key, int] = {}  # of a thread in a group, of a process in a job
        self._rest: list[Seen] = []  #: members of groups that are not looked at

    def table(self, calls: Sequence[_native.Missing]) -> Table:
        self._conclude_barriers()
        self._conclude_calls(calls)
        findings = self._conclude_stacks()
        self._conclude_stopped(any(finding.names_somebody for finding in findings))
        for own in self._facts:
            self._conclude_groups(own)
        members = [one for job in self._jobs if job.is_ranked for one in job.members]
        self._own_rank |= {(one.host, one.process): one.number for one in members}
        by_process = {(rank.host, rank.process): rank for rank in self._ranks}
        rows = list(_rows(self._threads, by_process, self._parts, self._own_rank))
        unseen = ((key, rank) for key, rank in by_process.items() if not rank.threads and key in self._parts)
        rows += [_unseen(rank, self._parts[key]) for key, rank in unseen]
        rows += self._rest
        missed = list(dict.fromkeys(note for own in self._facts for note in own.missed))
        refused = list(dict.fromkeys(note for own in self._facts for note in own.refused))
        reasons = [] if self._failed else self._reasons(missed, refused, findings)
        if not self._notes and not reasons:
            nobody_here = "there is no MPI rank and no group of tollbar's here"
            self._notes.append("nobody is found missing" if rows or self._ranks else nobody_here)
        rest_said = [f"cannot tell: {reason}" for reason in reasons] or [*missed, *refused]
        rest_said += not_answered(self._silent)
        return Table(
            rows, Seen, failed=self._failed, unknown=bool(reasons or self._silent), notes=[*self._notes, *rest_said],
            brief=_alike(rows) if len(rows) > _MOST_LISTED else [], digits=4,
        )  # fmt: skip

    def _conclude_barriers(self) -> None:
        """Barriers in memory, each of which is on one host."""
        for own in self._facts:
            for one in conclusions.conclude(own.seen.threads):
                sentence = f"{own.host}: {one.sentence}" if own.host else one.sentence
                self._say(sentence)
                self._parts |= {thread.key: _Part("waits", one.what, sentence) for thread in one.waiting}
                missing = _Part("guess" if one.doubt else "missing", one.what, sentence)
                self._parts |= {thread.key: missing for thread in one.missing}
            for worker in conclusions.idle(own.seen.threads):
                self._parts.setdefault(worker.key, _Part("idle", "", None))

    def _conclude_calls(self, calls: Sequence[_native.Missing]) -> None:
        """Calls of an MPI, by what ranks tell of them, else by their frames."""
        meetings = [hangs.meeting(line, self._ranks) for line in calls]
        if not meetings and (seen_alone := ranks.conclude(self._ranks, self._is_whole)):
            meetings = [seen_alone]
        for meeting in meetings:
            self._say(meeting.sentence)
            for rank in (*meeting.inside, *meeting.odd):
                key = rank.inside.key if rank.inside else (rank.host, rank.process)
                part = _Part("missing" if rank in meeting.odd else "waits", meeting.call, meeting.sentence)
                self._parts[key] = part if rank in meeting.odd else self._parts.get(key, part)

    def _conclude_stacks(self) -> list[jobs.Finding]:
        """Jobs without an MPI, where nothing else has told of them."""
        if self._failed or any(group.sentence for own in self._facts for group in own.seen.groups):
            return []
        findings = [finding for job in self._jobs if (finding := _by_stacks(job, self._ranks))]
        for finding in findings:
            if finding.names_somebody:
                self._say(finding.sentence)
                self._parts |= _parts_of(finding)
        return findings

    def _conclude_stopped(self, is_said: bool) -> None:
        still = conclusions.stopped(self._threads)
        if not still or is_said:
            return
        members = (one for job in self._jobs if job.is_ranked for one in job.members)
        names = {(one.host, one.process): f"rank {one.number}" for one in members}
        said = conclusions.of_stopped(still, names, len({thread.owner for thread in self._threads}))
        self._say(said)
        for first in still:
            self._parts.setdefault(first.key, _Part("missing", "", said))

    def _conclude_groups(self, own: Facts) -> None:
        there = {(thread.process, thread.thread) for thread in own.seen.threads}
        looked_at = {process for process, _ in there}
        for group in own.seen.groups:
            members = {member.process for member in (*group.missing, *group.arrived)}
            if not group.sentence or not (self._everything or members & looked_at):
                continue
            self._say(group.sentence)
            for role, members_of in (("missing", group.missing), ("waits", group.arrived)):
                for member in members_of:
                    if (member.process, member.thread) in there:
                        self._own_rank[own.host, member.thread] = member.rank
                        self._parts[own.host, member.thread] = _Part(role, _named(group), group.sentence)
                    else:
                        self._rest.append(_member(group, member, role, own.host))

    def _say(self, sentence: str) -> None:
        self._failed = True
        self._notes.append(sentence)

    def _reasons(self, missed: Sequence[str], refused: Sequence[str], findings: Sequence[jobs.Finding]) -> list[str]:
        """Why it cannot be told that nobody is missing."""
        waiting = [rank for rank in self._ranks if rank.stayed]
        explained = {*self._parts, *(rank.inside.key for rank in waiting if rank.inside)}
        explained |= {thread.key for thread in self._threads if self._ranks and thread.of_runtime}
        for own in self._facts:
            explained |= {thread.key for thread in conclusions.moving(own.seen.threads)}
            of_lock = own.missed and own.seen.threads
            explained |= {thread.key for thread in of_lock or () if pythons.waits_for_lock(thread)}
        if findings:  # as far as these go, a thread waits for what its job waits for
            of_jobs = {(one.host, one.process) for job in self._jobs for one in job.members}
            explained |= {thread.key for thread in self._threads if thread.owner in of_jobs}
        reasons = [*missed, *refused, *(finding.sentence for finding in findings)]
        if self._threads and not any(thread.before for thread in self._threads):
            reasons.append("a second look has not seen the threads of the first")
        elif unknown := conclusions.unexplained(self._threads, explained):
            reasons.append(unknown)
        if waiting:
            size = max(len(self._ranks), *(rank.size or 0 for rank in self._ranks))
            calls = ", ".join(dict.fromkeys(str(rank.call) for rank in waiting))
            others = self._not_seen(sorted(set(range(size)) - {rank.rank for rank in self._ranks}))
            waits = f"{len(waiting)} of {size} ranks wait in {calls}, and none is seen that they wait for"
            reasons.append(waits + others)
        return reasons

    def _not_seen(self, absent: Sequence[int]) -> str:
        """The end of a sentence about a job, for its ranks that are not seen."""
        if len(absent) < 2:
            return f"; rank {absent[0]} is not on {self._looked_at}, or has ended" if absent else ""
        which = f"ranks {_native.listed(absent)}" if len(absent) <= _MOST_LISTED else f"{len(absent)} ranks"
        return f"; {which} are not on {self._looked_at}, or have ended"


def not_answered(silent: Mapping[str, str]) -> list[str]:
    """A line for each reason why hosts have not answered."""
    by_reason: dict[str, list[str]] = {}
    for host, why in silent.items():
        by_reason.setdefault(why, []).append(host)
    return [f"cannot tell of {hostnames.folded(hosts)}: {why}" for why, hosts in by_reason.items()]


def _alike(rows: Sequence[Seen]) -> list[_Alike]:
    kinds: dict[tuple[str | None, str, str | None], list[Seen]] = {}
    for row in rows:
        # A rank that spins is seen asleep at times, between two turns on a crowded CPU.
        moves = row.part == "waits" and row.state in ("asleep", "runs")
        kinds.setdefault((row.part, row.doing, None if moves else row.state), []).append(row)
    return [_line(same) for same in kinds.values()]


def _line(same: Sequence[Seen]) -> _Alike:
    first = same[0]
    which = sorted({row.rank for row in same if row.rank is not None})
    asleep = [row.asleep_s for row in same if row.asleep_s is not None]
    return _Alike(
        _counted([row.process for row in same], "processes"), _native.listed(which) if which else None,
        _counted([row.thread for row in same], "threads"), first.name if len({row.name for row in same}) == 1 else None,
        ", ".join(sorted({row.state for row in same})), first.part, first.doing, min(asleep, default=None),
        hostnames.folded(row.host for row in same if row.host) or None,
    )  # fmt: skip


def _counted(numbers: Iterable[int | None], what: str) -> str:
    """The number of each where they are one, else how many there are."""
    different = {number for number in numbers if number is not None}
    return f"{len(different)} {what}" if len(different) > 1 else "".join(map(str, different))


def _by_stacks(of_stacks: jobs.Job, job: Sequence[ranks.Rank]) -> jobs.Finding | None:
    """The finding about a job by its members' stacks. Ranks that have an MPI in their memory wait by it, unless they
    are seen in a collective call of something else."""
    if job and (any(rank.call for rank in job) or not any(one.is_together for one in of_stacks.members)):
        return None
    return jobs.conclude(of_stacks)


def _parts_of(finding: jobs.Finding) -> dict[Key, _Part]:
    """The parts that the threads of a job's members play."""
    missing = _Part("guess" if finding.is_guess else "missing", "", finding.sentence)
    waits = _Part("waits", "", finding.sentence)
    return {one.key: waits for one in finding.waiting} | {one.key: missing for one in finding.odd}


def _rows(
    threads: Sequence[sight.Thread],
    job: Mapping[Key, ranks.Rank],
    parts: Mapping[Key, _Part],
    own_rank: Mapping[Key, int],
) -> Iterator[Seen]:
    order = {"missing": 0, "guess": 1, "waits": 2}
    for thread in sorted(threads, key=lambda thread: order.get(_part_of(thread, parts) or "", 3)):
        part = parts.get(thread.key)
        rank = job.get(thread.owner)
        if rank and not part and thread is not rank.inside and thread.thread != thread.process:
            continue  # an MPI's own threads
        asleep = thread.now.asleep_ms
        yield Seen(
            thread.process, rank.rank if rank else own_rank.get(thread.key, own_rank.get(thread.owner)),
            thread.thread, thread.name,
            thread.state, part.part if part else None, thread.doing,
            None if asleep is None else asleep / 1e3, part.barrier or None if part else None,
            part.sentence if part else None, thread.now.held_us, " < ".join(map(str, thread.frames)),
            thread.host or None,
        )  # fmt: skip


def _unseen(rank: ranks.Rank, part: _Part) -> Seen:
    """The row of a rank that tells of itself and may not be looked at."""
    return Seen(
        rank.process,
        rank.rank,
        None,
        None,
        "unknown",
        part.part,
        "",
        None,
        part.barrier,
        part.sentence,
        None,
        "",
        rank.host or None,
    )


def _part_of(thread: sight.Thread, parts: Mapping[Key, _Part]) -> str | None:
    return parts[thread.key].part if thread.key in parts else None


def _named(group: sight.SeenGroup) -> str:
    return f"group {group.name}" if group.name else "a group without a name"


def _member(group: sight.SeenGroup, member: sight.SeenMember, part: str, host: str) -> Seen:
    """The row of a member whose thread is not looked at."""
    doing = f"episode {group.episode - member.behind} of {group.called}"
    return Seen(
        member.process if member.process > 0 else None, member.rank, member.thread or None, None, member.state,
        part, doing, None, _named(group), group.sentence, None, "", host or None,
    )  # fmt: skip

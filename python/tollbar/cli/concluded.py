# SPDX-License-Identifier: Apache-2.0
"""The rows of `tollbar who`, and what is concluded from a look."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.cli.table import Table, column
from tollbar.look import conclusions, hangs, jobs, processes, pythons, ranks, sight

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


@dataclass(frozen=True)
class _Part:
    part: str
    barrier: str
    sentence: str | None


def table_of(
    seen: sight.Sight,
    rank_of: dict[int, tuple[int, int | None]],
    of_stacks: jobs.Job,
    calls: Sequence[_native.Missing],
    refused: Sequence[str],
    missed: Sequence[str] = (),
    everything: bool = False,
) -> Table:
    parts: dict[int, _Part] = {}
    notes: list[str] = []
    failed = False
    for one in conclusions.conclude(seen.threads):
        failed = True
        notes.append(one.sentence)
        parts |= {thread.thread: _Part("waits", one.what, one.sentence) for thread in one.waiting}
        missing = _Part("guess" if one.doubt else "missing", one.what, one.sentence)
        parts |= {thread.thread: missing for thread in one.missing}
    for worker in conclusions.idle(seen.threads):
        parts.setdefault(worker.thread, _Part("idle", "", None))
    job = ranks.of_threads(rank_of, seen.threads)
    meetings = [hangs.meeting(line, job) for line in calls]
    if not meetings and (seen_alone := ranks.conclude(job, any(map(processes.all_here, rank_of)))):
        meetings = [seen_alone]
    for meeting in meetings:
        failed = True
        notes.append(meeting.sentence)
        for rank in (*meeting.inside, *meeting.odd):
            thread = rank.inside.thread if rank.inside else rank.process
            part = _Part("missing" if rank in meeting.odd else "waits", meeting.call, meeting.sentence)
            parts[thread] = part if rank in meeting.odd else parts.get(thread, part)
    finding = None if failed or any(group.sentence for group in seen.groups) else _by_stacks(of_stacks, job)
    if finding and finding.names_somebody:
        failed = True
        notes.append(finding.sentence)
        parts |= _parts_of(finding)
    names = {one.process: f"rank {one.number}" for one in of_stacks.members if of_stacks.is_ranked}
    still = conclusions.stopped(seen.threads)
    if still and not (finding and finding.names_somebody):
        failed = True
        said = conclusions.of_stopped(still, names, len({thread.process for thread in seen.threads}))
        notes.append(said)
        for first in still:
            parts.setdefault(first.thread, _Part("missing", "", said))
    looked_at = {thread.process for thread in seen.threads}
    own_rank: dict[int, int] = {}  # in a group, by thread
    rest: list[Seen] = []
    for group in seen.groups:
        members = {member.process for member in (*group.missing, *group.arrived)}
        sentence = group.sentence
        if sentence and (everything or members & looked_at):
            failed = True
            notes.append(sentence)
            for role, members_of in (("missing", group.missing), ("waits", group.arrived)):
                for member in members_of:
                    if any(
                        thread.thread == member.thread and thread.process == member.process for thread in seen.threads
                    ):
                        own_rank[member.thread] = member.rank
                        parts[member.thread] = _Part(role, _named(group), sentence)
                    else:
                        rest.append(_member(group, member, role, sentence))
    own_rank |= {one.process: one.number for one in of_stacks.members if of_stacks.is_ranked}
    rows = list(_rows(seen.threads, {rank.process: rank for rank in job}, parts, own_rank))
    rows += [_unseen(rank, parts[rank.process]) for rank in job if not rank.threads and rank.process in parts]
    rows += rest
    of_lock = {thread.thread for thread in seen.threads if missed and pythons.waits_for_lock(thread)}
    of_job = {thread.thread for thread in seen.threads if finding and _is_of(thread, of_stacks)}
    unknown = [*missed, *refused, *([finding.sentence] if finding else [])]
    reasons = [] if failed else _reasons(seen, job, {*parts, *of_lock, *of_job}, unknown)
    if not notes and not reasons:
        nobody_here = "there is no MPI rank and no group of tollbar's here"
        notes.append("nobody is found missing" if rows or job else nobody_here)
    rest_said = [f"cannot tell: {reason}" for reason in reasons] or [*missed, *refused]
    brief = _alike(rows) if len(rows) > _MOST_LISTED else []
    return Table(rows, Seen, failed=failed, unknown=bool(reasons), notes=[*notes, *rest_said], brief=brief, digits=4)


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


def _parts_of(finding: jobs.Finding) -> dict[int, _Part]:
    """The parts that the threads of a job's members play."""
    missing = _Part("guess" if finding.is_guess else "missing", "", finding.sentence)
    waits = _Part("waits", "", finding.sentence)
    return {one.thread: waits for one in finding.waiting} | {one.thread: missing for one in finding.odd}


def _is_of(thread: sight.Thread, of_stacks: jobs.Job) -> bool:
    """Whether what a thread waits for is what its job waits for, as far as the job's finding goes."""
    return thread.process in {one.process for one in of_stacks.members}


def _reasons(
    seen: sight.Sight, job: Sequence[ranks.Rank], explained: Collection[int], known: Sequence[str]
) -> list[str]:
    """Why it cannot be told that nobody is missing, besides what is `known` already."""
    waiting = [rank for rank in job if rank.stayed]
    explained = {*explained, *(rank.inside.thread for rank in waiting if rank.inside)}
    explained |= {thread.thread for thread in seen.threads if job and thread.of_runtime}
    explained |= {thread.thread for thread in conclusions.moving(seen.threads)}
    reasons = [*known]
    if seen.threads and not any(thread.before for thread in seen.threads):
        reasons.append("a second look has not seen the threads of the first")
    elif unknown := conclusions.unexplained(seen.threads, explained):
        reasons.append(unknown)
    if waiting:
        size = max(len(job), *(rank.size or 0 for rank in job))
        calls = ", ".join(dict.fromkeys(str(rank.call) for rank in waiting))
        others = _not_seen(sorted(set(range(size)) - {rank.rank for rank in job}))
        reasons.append(f"{len(waiting)} of {size} ranks wait in {calls}, and none is seen that they wait for{others}")
    return reasons


def _not_seen(absent: Sequence[int]) -> str:
    """The end of a sentence about a job, for its ranks that are not seen here."""
    if len(absent) < 2:
        return f"; rank {absent[0]} is not on this host, or has ended" if absent else ""
    which = f"ranks {_native.listed(absent)}" if len(absent) <= _MOST_LISTED else f"{len(absent)} ranks"
    return f"; {which} are not on this host, or have ended"


def _rows(
    threads: Sequence[sight.Thread], job: dict[int, ranks.Rank], parts: dict[int, _Part], own_rank: dict[int, int]
) -> Iterator[Seen]:
    order = {"missing": 0, "guess": 1, "waits": 2}
    for thread in sorted(threads, key=lambda thread: order.get(_part_of(thread, parts) or "", 3)):
        part = parts.get(thread.thread)
        rank = job.get(thread.process)
        if rank and not part and thread is not rank.inside and thread.thread != thread.process:
            continue  # an MPI's own threads
        asleep = thread.now.asleep_ms
        yield Seen(
            thread.process, rank.rank if rank else own_rank.get(thread.thread, own_rank.get(thread.process)),
            thread.thread, thread.name,
            thread.state, part.part if part else None, thread.doing,
            None if asleep is None else asleep / 1e3, part.barrier or None if part else None,
            part.sentence if part else None, thread.now.held_us, " < ".join(map(str, thread.frames)),
        )  # fmt: skip


def _unseen(rank: ranks.Rank, part: _Part) -> Seen:
    """The row of a rank that tells of itself and may not be looked at."""
    return Seen(
        rank.process, rank.rank, None, None, "unknown", part.part, "", None, part.barrier, part.sentence, None, ""
    )


def _part_of(thread: sight.Thread, parts: dict[int, _Part]) -> str | None:
    return parts[thread.thread].part if thread.thread in parts else None


def _named(group: sight.Group) -> str:
    return f"group {group.name}" if group.name else "a group without a name"


def _member(group: sight.Group, member: sight.Member, part: str, sentence: str) -> Seen:
    """The row of a member whose thread is not looked at."""
    doing = f"episode {group.episode - member.behind} of {group.called}"
    return Seen(
        member.process if member.process > 0 else None, member.rank, member.thread or None, None, member.state,
        part, doing, None, _named(group), sentence, None, "",
    )  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""tollbar who: looks at a running program and names the threads or ranks that others wait for."""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.cli import arguments
from tollbar.cli.errors import NotPermitted, WrongUse
from tollbar.cli.table import Table, column, describe_columns
from tollbar.look import answers, conclusions, hangs, helper, processes, pythons, ranks, sight

_ABOUT = """
The program needs no preparation. Two looks, 100 ms apart, and only what did not change between them counts. A
thread that runs is stopped for some microseconds; ranks under `tollbar run --timeout` tell their calls besides.
Without PID or NAME: this user's MPI ranks and groups of tollbar. Exit code 0: nobody is found missing, 1: somebody
is, 3: looking is not permitted."""
_APART_S = 0.1


@dataclass(frozen=True)
class Seen:
    """A thread, or a member of a group of tollbar's that is not among those looked at."""

    process: int | None = column("whose thread it is")
    rank: int | None = column("in its MPI job, or its group of tollbar")
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
class _Part:
    part: str
    barrier: str
    sentence: str | None


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "who", help=__doc__.partition(": ")[2], description=__doc__ + "\n" + _ABOUT, epilog=describe_columns(Seen)
    )
    parser.add_argument(
        "words",
        nargs="*",
        metavar="PID|NAME",
        help="a process and what it has started, the launcher of an MPI job, or programs of that name",
    )
    parser.add_argument(
        "--watch", type=arguments.number(float, arguments.ABOVE_0, what="number of seconds"), metavar="S",
        help="look every S seconds until the same are missing twice or the program has ended",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    table = look(args.words)
    if args.watch is None:
        return table
    while True:
        time.sleep(args.watch)
        before = table
        try:
            table = look(args.words)
        except WrongUse:  # it has ended
            return Table([], Seen, notes=["the program has ended"])
        if table.failed and _missing(table) == _missing(before):
            return table


def _missing(table: Table) -> list[str | None]:
    return [row.conclusion for row in table.rows]


def look(words: Sequence[str], by_frames: bool = False) -> Table:
    """The rows that two looks give now, and what is concluded. `by_frames`: ranks are not asked, only looked at."""
    there = processes.everything()
    wanted = [number for word in words for number in _meant(word, there)] if words else processes.of_user(there)
    rank_of = processes.ranks(wanted, there)
    below = [process for number in wanted for process in processes.below(number, there) if process != os.getpid()]
    numbers = list(dict.fromkeys(rank_of if rank_of else [*wanted, *below]))
    refused = [why for number in numbers if (why := processes.refusal(number))]
    forbidden = bool(refused) and len(refused) == len(numbers)
    try:
        answer = answers.ask(numbers, there) if forbidden else (sight.read(helper.look(numbers)), rank_of)
    except helper.LookError as error:
        raise WrongUse(str(error)) from None
    calls = None if by_frames else _calls(rank_of)  # after the look, so that a wait that it saw has lasted long enough
    if answer is None:
        if calls is None:
            raise NotPermitted(refused[0])
        return _table(sight.Sight((), ()), rank_of, calls, refused[:1], everything=not words)
    seen, rank_of = answer
    if numbers and not seen.threads:
        raise WrongUse("the program has ended meanwhile")
    return _table(seen, rank_of, calls or [], [] if forbidden else refused, everything=not words)


def _calls(ranks: Iterable[int]) -> list[str] | None:
    """The sentences about ranks that wait in calls of an MPI, as they say themselves; None: they are not watched."""
    files = processes.seats(ranks)
    try:
        lines = [line for file in files for line in _native.waits_in(file, _APART_S)]
    except RuntimeError:  # of another version, or of another user
        return None
    return [line for line in lines if hangs.named(line)] if files else None


def _meant(word: str, there: dict[int, processes.Process]) -> list[int]:
    numbers = processes.meant(word, there)
    if not numbers:
        raise WrongUse(f"there is no process {word}" if word.isdigit() else f"no process is called {word}")
    return numbers


def _table(
    seen: sight.Sight,
    rank_of: dict[int, tuple[int, int | None]],
    calls: Sequence[str],
    refused: Sequence[str],
    everything: bool,
) -> Table:
    parts: dict[int, _Part] = {}
    notes: list[str] = []
    failed = False
    threads, missed = pythons.named(seen.threads)
    seen = dataclasses.replace(seen, threads=tuple(threads))
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
    names = {rank.process: f"rank {rank.rank}" for rank in job}
    still = conclusions.stopped(seen.threads)
    if still:
        failed = True
        said = conclusions.of_stopped(still, names, len({thread.process for thread in seen.threads}))
        notes.append(said)
        for first in still:
            parts.setdefault(first.thread, _Part("missing", "", said))
    rows = list(_rows(seen.threads, {rank.process: rank for rank in job}, parts))
    rows += [_unseen(rank, parts[rank.process]) for rank in job if not rank.threads and rank.process in parts]
    looked_at = {thread.process for thread in seen.threads}
    for group in seen.groups:
        members = {member.process for member in (*group.missing, *group.arrived)}
        sentence = conclusions.of_group(group)
        if sentence and (everything or members & looked_at):
            failed = True
            notes.append(sentence)
            rows += _members(group, sentence)
    if not notes:
        nobody_here = "there is no MPI rank and no group of tollbar's here"
        notes.append("nobody is found missing" if rows or job else nobody_here)
    return Table(rows, Seen, failed=failed, notes=[*notes, *missed, *refused], digits=4)


def _rows(threads: Sequence[sight.Thread], job: dict[int, ranks.Rank], parts: dict[int, _Part]) -> Iterator[Seen]:
    order = {"missing": 0, "guess": 1, "waits": 2}
    for thread in sorted(threads, key=lambda thread: order.get(_part_of(thread, parts) or "", 3)):
        part = parts.get(thread.thread)
        rank = job.get(thread.process)
        if rank and not part and thread is not rank.inside and thread.thread != thread.process:
            continue  # an MPI's own threads
        asleep = thread.now.asleep_ms
        yield Seen(
            thread.process, rank.rank if rank else None, thread.thread, thread.name, thread.state,
            part.part if part else None, thread.doing,
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


def _members(group: sight.Group, sentence: str) -> Iterator[Seen]:
    for part, members in (("missing", group.missing), ("waits", group.arrived)):
        for member in members:
            doing = f"episode {group.episode - member.behind} of group '{group.name}'"
            yield Seen(
                member.process if member.process > 0 else None, member.rank, member.thread or None, None, member.state,
                part, doing, None, f"group {group.name}", sentence, None, "",
            )  # fmt: skip

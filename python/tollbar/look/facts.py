# SPDX-License-Identifier: Apache-2.0
"""The facts that two looks find on a host, for a conclusion here or, with those of other hosts, elsewhere."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tollbar import _native
from tollbar.look import answers, helper, jobs, members, processes, pythons, sight


class Refused(Exception):
    """Nothing may be looked at; the text says why."""


@dataclass(frozen=True)
class Facts:
    seen: sight.Sight
    rank_of: dict[int, tuple[int, int | None]]  #: rank and number of ranks of each process of an MPI
    job: jobs.Job  #: as stacks show it
    is_whole: bool = False  #: a rank says that all ranks of its job are on its host
    refused: tuple[str, ...] = ()  #: why some were not looked at
    missed: tuple[str, ...] = ()  #: what would have shown more
    host: str = ""  #: where several are looked at
    rows: tuple[str, ...] = ()  #: as ranks tell them that keep account of their calls; one is empty where they moved

    def on(self, host: str) -> Facts:
        """The same, of that host among others."""
        threads = tuple(dataclasses.replace(thread, host=host) for thread in self.seen.threads)
        members = tuple(dataclasses.replace(member, host=host) for member in self.job.members)
        seen, job = dataclasses.replace(self.seen, threads=threads), dataclasses.replace(self.job, members=members)
        return dataclasses.replace(self, seen=seen, job=job, host=host)


def watched(
    wanted: Sequence[int], there: dict[int, processes.Process], between: Callable[[], None], apart_s: float
) -> Facts:
    """As of(), with the rows of ranks that keep account of their calls, whose two looks are around the others: then
    nothing need be permitted. Raises as of() where there are no rows."""
    rank_of = processes.ranks(list(wanted), there)
    looks: list[Facts] = []
    refused: list[Refused] = []

    def look() -> None:
        is_over = False

        def once() -> None:
            nonlocal is_over
            is_over = True
            between()

        try:
            looks.append(of(wanted, there, once))
        except Refused as why:
            refused.append(why)
            if not is_over:  # hosts look together, whatever they may see
                between()

    rows = _rows(sorted(processes.seats(rank_of)), look, apart_s)
    if refused and not any(rows):
        raise refused[0]
    nothing = Facts(sight.Sight((), ()), rank_of, jobs.Job((), True), refused=tuple(map(str, refused)))
    return dataclasses.replace(looks[0] if looks else nothing, rows=tuple(rows))


def _rows(files: Sequence[str], look: Callable[[], None], apart_s: float) -> list[str]:
    """The rows at each file, around that look; empty for a file of another version or another user."""
    if not files:
        look()
        return []
    rest: list[str] = []
    is_begun = False

    def meanwhile() -> None:
        nonlocal is_begun
        is_begun = True
        rest.extend(_rows(files[1:], look, apart_s))

    try:
        return [_native.rows_in(files[0], apart_s, meanwhile), *rest]
    except RuntimeError:
        if is_begun:
            raise
        meanwhile()
        return ["", *rest]


NOTHING = Facts(sight.Sight((), ()), {}, jobs.Job((), False))


def of(wanted: Sequence[int], there: dict[int, processes.Process], between: Callable[[], None] | None = None) -> Facts:
    """The facts about those processes and what they have started; about all ranks of the job where they are some. The
    second look begins when `between` returns. Raises LookError, or Refused."""
    rank_of = processes.ranks(list(wanted), there)
    below = [process for number in wanted for process in processes.below(number, there) if process != os.getpid()]
    ranked = {} if rank_of else members.ranked([*wanted, *below], there)
    started = [process for number in ranked for process in processes.below(number, there)]
    numbers = list(dict.fromkeys(rank_of if rank_of else [*wanted, *below, *ranked, *started]))
    refused = [why for number in numbers if (why := processes.refusal(number))]
    forbidden = bool(refused) and len(refused) == len(numbers)
    answer = answers.ask(numbers, there) if forbidden else (sight.read(helper.look(numbers, between)), rank_of)
    if answer is None:
        raise Refused(refused[0])
    seen, rank_of = answer
    reasons = [] if forbidden else refused
    if rank_of and not forbidden:  # a rank whose MPI was not loaded yet at the first look is not gone
        there = {**processes.everything(), **there}
        rank_of = {**processes.ranks(list(wanted), there), **rank_of}
    if not rank_of:
        reasons += [
            f"none of the ranks that {one.name} (process {one.number}) has started is here: look on its job's hosts"
            for one in processes.launchers(wanted, there)
        ]
    threads, missed = pythons.named(seen.threads)
    seen = dataclasses.replace(seen, threads=tuple(threads))
    job = members.of_job(rank_of or ranked, threads, there)
    is_whole = any(map(processes.all_here, rank_of))
    return Facts(seen, rank_of, job, is_whole, tuple(reasons), tuple(missed))

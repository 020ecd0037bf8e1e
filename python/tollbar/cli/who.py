# SPDX-License-Identifier: Apache-2.0
"""tollbar who: looks at a running program and names the threads or ranks that others wait for."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence

from tollbar import _native
from tollbar.cli import arguments, concluded, far
from tollbar.cli.concluded import Seen
from tollbar.cli.errors import Ended, NotPermitted, WrongUse
from tollbar.cli.table import Table, describe_columns
from tollbar.look import facts as looked_at
from tollbar.look import helper, jobs, processes, sight

_ABOUT = """
The program needs no preparation. Two looks, 100 ms apart, and only what did not change between them counts. A
thread that runs is stopped for some microseconds; ranks under `tollbar run --timeout` tell their calls besides.
A job without an MPI is compared by its stacks, those of Python where py-spy is installed.
Without PID or NAME: this user's MPI ranks and groups of tollbar. Exit code 0: nobody is missing, as far as all that
waits is understood; 1: somebody is missing; 2: there is no such process; 3: it cannot be looked at, or cannot be told:
the last line says why. Of more than eight threads, those that do the same are one line; CSV and JSON have them all."""
_APART_S = 0.1


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
    parser.add_argument("--job", metavar="ID[.STEP]", help="a job of Slurm, on all its hosts")
    parser.add_argument("--hosts", metavar="NODESET", help="on all of these hosts, such as n[1-64], by clush or ssh")
    parser.add_argument(
        "--watch", type=arguments.number(float, arguments.ABOVE_0, what="number of seconds"), metavar="S",
        help="look every S seconds until the same are missing twice or the program has ended",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    look = _look_of(args)
    table = look()
    if args.watch is None:
        return table
    while True:
        time.sleep(args.watch)
        before = table
        try:
            table = look()
        except Ended:
            return Table([], Seen, notes=["the program has ended"])
        if table.failed and _missing(table) == _missing(before):
            return table


def _look_of(args: argparse.Namespace) -> Callable[[], Table]:
    if args.job is not None and args.hosts is not None:
        raise WrongUse("--job says on which hosts: no --hosts beside it")
    if args.job is not None:
        return lambda: far.of_job(args.job, args.words)
    if args.hosts is not None:
        return lambda: far.of_hosts(args.hosts, args.words)
    return lambda: far.of_launcher(args.words) or look(args.words)


def _missing(table: Table) -> list[str | None]:
    return [row.conclusion for row in table.rows]


def look(words: Sequence[str], by_frames: bool = False) -> Table:
    """The rows that two looks give now, and what is concluded. `by_frames`: the processes are those of a job, of which
    some may have ended; its ranks are not asked, only looked at."""
    there = processes.everything()
    meant = processes.meant if by_frames else _meant
    wanted = [number for word in words for number in meant(word, there)] if words else processes.of_user(there)
    rank_of = processes.ranks(wanted, there)
    try:
        facts = looked_at.of(wanted, there)
    except helper.LookError as error:
        raise NotPermitted(str(error)) from None
    except looked_at.Refused as refused:
        calls = None if by_frames else _calls(rank_of)
        if calls is None:
            raise NotPermitted(str(refused)) from None
        nothing = sight.Sight((), ())
        facts = looked_at.Facts(nothing, rank_of, jobs.Job((), True), refused=(str(refused),))
        return concluded.table_of([facts], calls, everything=not words)
    if words and not facts.seen.threads:
        raise Ended("the program has ended meanwhile")
    calls = None if by_frames else _calls(facts.rank_of)  # after the look, so that a wait it saw has lasted long enough
    return concluded.table_of([facts], calls or (), everything=not words)


def _calls(ranks: Iterable[int]) -> list[_native.Missing] | None:
    """The conclusions about ranks that wait in calls of an MPI, as they say themselves; None: they are not watched."""
    files = processes.seats(ranks)
    try:
        lines = [line for file in files for line in _native.waits_in(file, _APART_S)]
    except RuntimeError:  # of another version, or of another user
        return None
    return [line for line in lines if line.named] if files else None


def _meant(word: str, there: dict[int, processes.Process]) -> list[int]:
    if word.startswith("-"):  # which argparse takes for a negative number
        raise WrongUse(f"{word} is neither the number of a process nor a name")
    numbers = processes.meant(word, there)
    if not numbers:
        raise Ended(f"there is no process {word}" if processes.is_number(word) else f"no process is called {word}")
    return numbers

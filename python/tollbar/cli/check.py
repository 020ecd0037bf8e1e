# SPDX-License-Identifier: Apache-2.0
"""tollbar check: runs barriers, tollbar's or anybody's, and names the first rank that leaves too early."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tollbar
from tollbar.cli import arguments, ways
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.progress import track
from tollbar.cli.table import Table, column, describe_columns

if TYPE_CHECKING:
    from tollbar.campaigns import checks

_HOW = """
Before the barrier each rank writes the episode's number into memory of its own, after it each rank reads
those of all: a rank that finds an older number has left too early. With --late one rank, chosen in turn,
enters each episode only when all others have, so that a barrier that lets anybody go without it is seen to
do so. Nothing but the barrier orders those numbers, and no time decides: --stuck only says when to give up on
ranks that wait for ever. The check ends with the first barrier that fails: exit code 1, and a line that names
the episode, who left early and who had not arrived.

  tollbar check threads --late                         every plan, and what users have today
  tollbar check mpi --plan MPI_Barrier                 an MPI's own, and behind tollbar's doors
  tollbar check threads --load ./libmine.so            anybody's, by the functions of tollbar/toll.h
"""


@dataclass(frozen=True)
class Checked:
    of: str | None = column("the MPI, and the door of tollbar's through which it was reached")
    barrier: str = column("what was checked")
    wait: str | None = column("how its ranks wait, or signal, where that is not the default")
    ranks: int = column("how many took part; threads of ranks count")
    episodes: int = column("how many of them it has done")
    late: bool = column("whether one rank, in turn, was late in each")
    holds: bool = column("whether no rank left before all had arrived, and all could leave")
    seconds: float | None = column("how long that took; null when it failed")
    fault: str | None = column("the episode, who left early, and who had not arrived")


@dataclass(frozen=True)
class Way:
    """What is checked, and which options only some have."""

    name: str
    about: str
    ranks: str  #: what --ranks are
    usual: int
    episodes: int
    launches: str  #: by which function of tollbar.campaigns.checks
    others: tuple[str, ...] = ()  #: what --plan may name besides plans
    has_mpi: bool = False
    has_threads: bool = False

    def add_parser(self, commands: argparse._SubParsersAction) -> None:
        parser = commands.add_parser(
            self.name,
            help=self.about,
            description=f"Checks {self.about}.\n{_HOW}",
            epilog=describe_columns(Checked),
        )
        parser.add_argument(
            "--ranks", type=_ranks, default=[range(self.usual, self.usual + 1)], metavar="N[,N...]",
            help=f"how many {self.ranks}, A..B too (default: {self.usual})",
        )  # fmt: skip
        parser.add_argument(
            "--episodes",
            type=_count,
            default=self.episodes,
            metavar="N",
            help="of each (default: %(default)s)",
        )
        parser.add_argument(
            "--late", action="store_true", help="one rank, chosen in turn, is late in each episode"
        )
        parser.add_argument(
            "--plan", action="append", default=[], metavar="NAME", type=self._named,
            help=f"{', or '.join(['a plan', *filter(None, [', '.join(self.others)])])}; may be given again "
            "(default: all that there are)",
        )  # fmt: skip
        parser.add_argument(
            "--load", type=Path, metavar="FILE",
            help="preload this library, and check the barrier that it has by the functions of tollbar/toll.h"
            if self.name == "threads" else "preload this library, so that its barrier is checked",
        )  # fmt: skip
        parser.add_argument(
            "--stuck", type=_seconds, default=10.0, metavar="SECONDS",
            help="give up when nobody has arrived or left for so long (default: 10)",
        )  # fmt: skip
        if self.has_mpi:
            parser.add_argument(
                "--mpi", type=arguments.names, default=(), metavar="NAME[,NAME...]",
                help="openmpi, mpich, impi, or with a version such as openmpi5 (default: one of each)",
            )  # fmt: skip
        if self.has_threads:
            parser.add_argument(
                "--threads", type=_count, default=2, metavar="T", help="in each rank (default: 2)"
            )

    def _named(self, text: str) -> str:
        try:
            return (
                text if text in self.others else arguments.plan(text.partition("+")[0], self.others) and text
            )
        except argparse.ArgumentError as error:
            raise argparse.ArgumentTypeError(error.message) from None
        return text

    def run(self, args: argparse.Namespace) -> Table:
        from tollbar.campaigns import checks

        if args.load is not None and not args.load.is_file():
            raise WrongUse(f"--load {args.load}: there is no such file")
        rows: list[Checked] = []
        notes: list[str] = []
        failed = False
        for ranks in arguments.each(args.ranks):
            asked = checks.Asked(
                ranks=ranks, episodes=args.episodes, late=args.late, stuck_s=args.stuck, names=args.plan,
                load=args.load, mpis=getattr(args, "mpi", ()), threads=getattr(args, "threads", 2),
            )  # fmt: skip
            try:
                with getattr(checks, self.launches)(asked) as (launches, said):
                    notes += [note for note in said if note not in notes]
                    for launch in track(launches, f"checking {ranks} {self.ranks}"):
                        failed |= _add(rows, notes, checks.launched(launch), asked)
            except (FileNotFoundError, RuntimeError) as error:
                raise WrongUse(error) from None
        if not rows and not failed:
            raise CheckFailed(notes[0] if notes else "nothing was checked")
        return Table(rows, Checked, failed=failed, notes=notes)


def _add(rows: list[Checked], notes: list[str], outcome: checks.Outcome, asked: checks.Asked) -> bool:
    """Puts down what a launch has found. True when a barrier failed, or something else did."""
    from tollbar.campaigns import checks

    of = outcome.launch.of or None
    notes += [_note(of, each) for each in outcome.skipped if _note(of, each) not in notes]
    for each in outcome.passed:
        seconds = round(each["elapsed_ns"] / 1e9, 3)
        rows.append(_row(of, each, each["ranks"], each["episodes"], asked, seconds, None))
    if fault := outcome.fault:
        ranks = asked.ranks * (asked.threads if "hybrid" in outcome.launch.command[-1] else 1)
        words = checks.fault_in_words(fault, asked.stuck_s)
        rows.append(_row(of, fault, ranks, fault["episode"] - 1, asked, None, words))
        where = f"{fault['name']}{f' of {of}' if of else ''} with {asked.ranks} ranks"
        notes.append(f"{where} is no barrier: {words}")
        return True
    if outcome.trouble:
        raise CheckFailed(f"{f'{of}: ' if of else ''}{outcome.trouble}")
    return False


def _row(
    of: str | None, record: dict[str, Any], ranks: int, episodes: int, asked: checks.Asked,
    seconds: float | None, fault: str | None,
) -> Checked:  # fmt: skip
    wait = None if record["wait"] == "auto" else record["wait"]
    return Checked(of, record["name"], wait, ranks, episodes, asked.late, fault is None, seconds, fault)


def _note(of: str | None, skipped: dict[str, Any]) -> str:
    return f"{skipped['name']}{f' of {of}' if of else ''} is not checked: {skipped['why']}"


def _ranks(text: str) -> list[range]:
    ranges = arguments.rank_counts(text)
    if any(each.start < 2 or each.stop > 1025 for each in ranges):
        raise argparse.ArgumentTypeError(f"'{text}': 2 to 1024 ranks can be checked")
    return ranges


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, at least 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0.001 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds, 0.001 to 3600")
    return seconds


_PUBLISHED = tollbar.cores_published if tollbar.native_problem is None else ()

WAYS = {
    way.name: way
    for way in (
        Way("threads", "barriers between the threads of a process", "threads", 5, 100_000, "of_threads",
            ("tollbar::barrier", "std::barrier", "pthread_barrier", "libgomp", "libomp", *_PUBLISHED)),
        Way("processes", "barriers between processes of one machine", "processes", 4, 100_000, "of_processes",
            ("pthread_barrier",)),
        Way("mpi", "MPI_Barrier and MPI_Ibarrier, of the MPI itself and through tollbar's doors", "ranks", 4,
            100_000, "of_mpi", ("MPI_Barrier", "MPI_Ibarrier"), has_mpi=True),
        Way("hybrid", "barriers between threads inside ranks", "ranks", 2, 10_000, "of_hybrid",
            ("omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier"),
            has_mpi=True, has_threads=True),
        Way("shmem", "split barriers of OpenSHMEM, and shmem_barrier_all", "PEs", 4, 10_000, "of_shmem",
            ("default", "one-shot", "counter", "shmem_barrier_all", "MPI_Ibarrier")),
        Way("udp", "barriers by datagrams, between sockets of this machine", "ranks", 4, 10_000, "of_udp"),
        Way("nic", "barriers that network cards run, on hosts made of network namespaces", "hosts", 4, 10_000,
            "of_nic", ("card:pairwise", "card:dissemination", "card:gather", "card:switch")),
    )
}  # fmt: skip


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "check", __doc__, "WHAT", WAYS)

# SPDX-License-Identifier: Apache-2.0
"""tollbar bench hybrid: the options that only it has, and its table of times."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.data.comparison import Candidate, Comparison
    from tollbar.data.mpi_places import Place, Places

RANKS = (2, 4, 8)
THREADS = (2, 4, 12)
LAUNCHES = 3
ROUNDS = 2
BUDGET_S = 90.0
FULL = {"ranks": (2, 4, 6, 8), "threads": (2, 4, 6, 8, 10, 12), "launches": 6, "rounds": 3, "budget": 3600.0}
QUICK = {"ranks": (2,), "threads": (2, 4), "launches": 1, "rounds": 1, "budget": 15.0}


@dataclass(frozen=True)
class Met:
    """One barrier between the threads of ranks, fastest first."""

    mpi: str = column("the MPI")
    ranks: int = column("how many processes")
    threads: int = column("how many threads in each")
    candidate: str = column("INNER/OUTER: the plan among threads, the plan among ranks; or what users write")
    period_us: float = column("loop period: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    latency_us: float | None = column("isolated: last entry to last exit")
    skew_us: float | None = column("isolated: first exit to last exit")
    of_peer: float | None = column("loop period / that of the faster of what users write")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=_threads, metavar="T[,T...]",
        help=f"hybrid only: threads in each rank (default: {','.join(map(str, THREADS))})",
    )  # fmt: skip
    parser.add_argument(
        "--level", choices=("funneled", "serialized", "multiple"),
        help="hybrid only: the thread level the MPI is asked for (default: serialized)",
    )  # fmt: skip


def _threads(text: str) -> tuple[int, ...]:
    found = text.split(",")
    for part in found:
        if not (part.isascii() and part.isdigit() and 1 <= int(part) <= 256):
            raise argparse.ArgumentTypeError(f"'{part}' is not a number of threads from 1 to 256")
    return tuple(dict.fromkeys(map(int, found)))


def measure(args: argparse.Namespace) -> tuple[Path, bool]:
    """Runs what the arguments ask for; gives the folder, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import hybrid as hybrid_campaign
    from tollbar.data import results

    usual = {"ranks": RANKS, "threads": THREADS, "launches": LAUNCHES, "rounds": ROUNDS, "budget": BUDGET_S}
    usual |= FULL if args.full else QUICK if args.quick else {}
    settings = hybrid_campaign.Settings(
        ranks=args.ranks or usual["ranks"],
        threads=args.threads or usual["threads"],
        mpis=args.mpi,
        launches=args.launches or usual["launches"],
        rounds=args.rounds or usual["rounds"],
        budget_s=args.budget or usual["budget"],
        only=args.only,
        full=args.full,
        level=args.level or "serialized",
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    try:
        work, _ = hybrid_campaign.prepare(settings)
        if not work.situations:
            raise WrongUse("nothing is left to measure: no installed MPI can be measured with these --ranks")
        with Watcher(settings.launches * len(work.situations)) as watcher:
            return told(hybrid_campaign.measure(settings, args.output or results.folder(), watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None


def times(places: Places, failed: bool, notes: Sequence[str]) -> Table:
    """The table of times."""
    rows = [row for place, each in places.items() for row in _rows(place, each)]
    return Table(rows, Met, failed=failed, notes=notes)


def _rows(place: Place, comparison: Comparison) -> list[Met]:
    from tollbar.data.comparison import summarise

    periods = {each: summarise(found.period) for each, found in comparison.candidates.items()}
    peer = min((found.value for each, found in periods.items() if each.kind == "mpi"), default=None)
    found = [_met(place, comparison, candidate, peer) for candidate in comparison.candidates]
    return sorted(found, key=lambda row: row.period_us)


def _met(place: Place, comparison: Comparison, candidate: Candidate, peer: float | None) -> Met:
    from tollbar.data.comparison import summarise

    measured = comparison.candidates[candidate]
    period, latency, skew = (
        summarise(each) for each in (measured.period, measured.alone, measured.alone_skew)
    )

    def us(nanoseconds: float | None) -> float | None:
        return None if nanoseconds is None else nanoseconds / 1e3

    return Met(
        place.mpi,
        place.ranks,
        place.threads,
        candidate.label,
        period.value / 1e3,
        us(period.low),
        us(period.high),
        us(latency and latency.value),
        us(skew and skew.value),
        period.value / peer if peer else None,
    )

# SPDX-License-Identifier: Apache-2.0
"""tollbar bench udp and bench nic: how much is measured, and its table."""

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
    from tollbar.report.udp_tables import Row

RANKS = (2, 4, 8, 16)
MOST_RANKS = 64
LAUNCHES = 6  # the fewest with a 95 % interval for a median
ROUNDS = 1
BUDGET_S = 300.0
BATCH_US = 4_000_000
#: 10,000 barriers, as long as one takes less than a millisecond.
FULL = {"ranks": tuple(range(2, 17)), "budget": 7200.0, "batch_us": 10_000_000}
QUICK = {"ranks": (2, 4, 8, 16), "launches": 2, "budget": 120.0, "batch_us": 100_000}


@dataclass(frozen=True)
class Met:
    """One barrier between hosts, fastest first."""

    ranks: int = column("how many hosts, a rank each")
    candidate: str = column(
        "the plan, on the host or card:; (park): asleep, (spin): busy polling; or the MPI's"
    )
    period_us: float = column("loop period of consecutive barriers: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    cpu_us: float | None = column("CPU time of all ranks together for each barrier")
    default_mpi: float | None = column(
        "the MPI's barrier with its default settings takes so many times as long"
    )
    best_mpi: float | None = column("the best of the MPI's barriers takes so many times as long")


def measure(args: argparse.Namespace) -> tuple[Path, bool]:
    """Runs what the arguments ask for; gives the folder, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import udp as udp_campaign
    from tollbar.data import results

    usual = {"ranks": RANKS, "launches": LAUNCHES, "budget": BUDGET_S, "batch_us": BATCH_US}
    usual |= FULL if args.full else QUICK if args.quick else {}
    settings = udp_campaign.Settings(
        ranks=args.ranks or usual["ranks"],
        launches=args.launches or usual["launches"],
        rounds=args.rounds or ROUNDS,
        budget_s=args.budget or usual["budget"],
        batch_us=usual["batch_us"],
        only=args.only,
        full=args.full,
        cards=args.kind == "nic",
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    refuse_too_many(settings.ranks)
    try:
        with Watcher(settings.launches * len(settings.ranks)) as watcher:
            return told(udp_campaign.measure(settings, args.output or results.folder(), watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None


def refuse_too_many(ranks: Sequence[int]) -> None:
    """Raises WrongUse where so many hosts cannot be made."""
    if max(ranks) > MOST_RANKS:
        raise WrongUse(f"--ranks {max(ranks)}: there are at most {MOST_RANKS} hosts")


def run(args: argparse.Namespace) -> Table:
    """Measures, stores, and prints what was measured."""
    from tollbar.data import results
    from tollbar.report import udp_tables

    folder, unsafe = measure(args)
    found = udp_tables.rows(udp_tables.gather(results.read_run(folder).launches))
    return Table([_met(row) for row in found], Met, failed=unsafe, notes=[f"every sample is in {folder}"])


def _met(row: Row) -> Met:
    def us(nanoseconds: float | None) -> float | None:
        return None if nanoseconds is None else nanoseconds / 1e3

    return Met(
        row.ranks,
        row.candidate.label,
        row.period.value / 1e3,
        us(row.period.low),
        us(row.period.high),
        us(row.cpu and row.cpu.value),
        row.of_default and row.of_default.value,
        row.of_best and row.of_best.value,
    )

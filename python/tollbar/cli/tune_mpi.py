# SPDX-License-Identifier: Apache-2.0
"""tollbar tune mpi: has the library choose a plan for jobs of every size, with time for every candidate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tollbar.cli import arguments
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column
from tollbar.machine.failure import Failure

if TYPE_CHECKING:
    from tollbar.data.tuning import Entry

RANKS = (2, 3, 4, 6, 8, 12, 16)
BUDGET_MS = 1000


@dataclass(frozen=True)
class TunedMpi:
    """One kind of communicator and what to use in it."""

    mpi: str = column("whose processes")
    ranks: int = column("how many of them")
    nodes: int = column("on how many nodes")
    crowded: str = column("yes where a node has more of them than processors")
    objective: str = column("what was judged: latency, skew or wait")
    plan: str = column("the plan to use, as `tollbar plans` spells it")
    median_us: float | None = column("what was judged, median of the rounds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_ranks(parser, f"sizes of the jobs (default: {','.join(map(str, RANKS))})")
    arguments.add_mpis(parser, "openmpi, mpich, impi, or with a version such as openmpi5 (default: all)")
    parser.add_argument(
        "--budget-ms",
        type=arguments.number(int, 1, 600_000, "whole number of milliseconds"),
        default=BUDGET_MS,
        metavar="MS",
        help="how long to measure for each size and objective; from 200 on every candidate is tried "
        "(default: %(default)s)",
    )


def run(args: argparse.Namespace, _: Sequence[Entry]) -> tuple[list[Entry], Table]:
    """The entries to store, and the table that shows them."""
    from tollbar.campaigns import mpi_settings, mpi_tuning
    from tollbar.machine import mpis

    sizes = list(arguments.sizes(args.ranks)) if args.ranks else list(RANKS)
    if min(sizes) < 2:
        raise WrongUse("a single rank has nothing to choose; the smallest size is 2")
    try:
        known = mpi_settings.some(*mpi_settings.programs(mpis.named(args.mpi), verb="tuned"))
    except FileNotFoundError as error:
        raise WrongUse(str(error)) from None
    entries: list[Entry] = []
    notes = []
    with Progress("choosing", total=len(known) * len(sizes)) as progress:
        for mpi, program in known.items():
            for ranks in sizes:
                try:
                    entries += mpi_tuning.choose(mpi, program, ranks, args.budget_ms)
                except Failure as error:
                    notes.append(f"{mpi.name}, {ranks} ranks: {error}")
                progress.advance(label=f"{mpi.name}, {ranks} ranks")
    if not entries:
        raise CheckFailed(notes[0] if notes else "nothing was chosen")
    for note in notes:
        print(f"tollbar tune: {note}", file=sys.stderr)
    return entries, Table([_row(entry) for entry in entries], TunedMpi)


def _row(entry: Entry) -> TunedMpi:
    pairs = entry.pairs
    return TunedMpi(
        pairs["mpi"],
        int(pairs["ranks"]),
        int(pairs["nodes"]),
        pairs["crowded"],
        pairs["objective"],
        pairs["plan"],
        float(pairs["median_us"]) if "median_us" in pairs else None,
    )

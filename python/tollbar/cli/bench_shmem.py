# SPDX-License-Identifier: Apache-2.0
"""tollbar bench shmem: the options that only it has, the paper's summary table, and the model of it."""

from __future__ import annotations

import argparse
import dataclasses
import io
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.table import Table, column, write
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.report.shmem_tables import Row

PES = (2, 4, 8, 16)
LAUNCHES = 6  # the fewest with a 95 % interval for a median
ROUNDS = 3
BUDGET_S = 240.0
ITERATIONS = 1000
QUICK = {"launches": 2, "rounds": 2, "budget": 30.0, "iterations": 100}


@dataclass(frozen=True)
class Summary:
    """One experiment of the paper with so many PEs. Seconds are those of 1000 iterations."""

    experiment: str = column("what synchronized the exchange")
    barrier: str = column("its name in --only and in the targets")
    published_s: float | None = column("the paper, 768 PEs")
    published_ratio: float | None = column("that over the paper's MPI_Ibarrier")
    pes: int = column("how many PEs here")
    seconds: float | None = column("the exchange here: median over launches")
    low_s: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_s: float | None = column("upper end of it")
    ratio: float | None = column("that over MPI_Ibarrier here, paired by round")
    post_and_wait_us: float | None = column("the barrier alone, back to back")


@dataclass(frozen=True)
class Modelled:
    """One experiment in the model."""

    experiment: str = column("what synchronized the exchange")
    pes: int = column("how many PEs")
    barrier_us: float = column("the split barrier alone")
    seconds: float = column("1000 iterations")
    published_s: float | None = column("the paper, with as many PEs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--targets", action="store_true", help="shmem only: prints the targets instead of the paper's table"
    )
    parser.add_argument(
        "--model", action="store_true",
        help="shmem only: measures nothing, prints what the paper's experiments cost in the model "
        "(--ranks: PEs, default 768)",
    )  # fmt: skip


def model(args: argparse.Namespace) -> Table:
    """What the paper's experiments cost in the model."""
    from tollbar.models import shmem as shmem_model
    from tollbar.models import shmem_published

    rows = [
        Modelled(each.experiment, pes, each.barrier_us, each.seconds, each.published_s)
        for pes in args.ranks or (shmem_published.PES,)
        for each in shmem_model.table(pes)
    ]
    return Table(rows, Modelled)


def run(args: argparse.Namespace, compared: type) -> Table:
    """Measures and prints the paper's table; with --targets those, as rows of `compared`."""
    from tollbar.campaigns import shmem as shmem_campaign
    from tollbar.data import results, shmem_results
    from tollbar.report import shmem_tables, shmem_targets

    if args.model:
        return model(args)
    if why := shmem_campaign.why_not():
        print(f"tollbar bench: OpenSHMEM is not measured: {why}", file=sys.stderr)
        return Table([], compared if args.targets else Summary)
    folder, unsafe = _measure(args)
    measured = shmem_results.gather(results.read_run(folder).launches)
    reached = shmem_targets.evaluate(measured)
    notes = [f"not measured: {name}: {why}" for name, why in shmem_results.skipped(measured).items()]
    if args.targets:
        rows = [compared(**vars(each)) for each in reached]
        return Table(rows, compared, failed=unsafe, notes=[*notes, f"every sample is in {folder}"])
    verdicts = [each.verdict for each in reached]
    counted = ", ".join(f"{verdicts.count(word)} {word}" for word in ("met", "tie", "missed"))
    notes += [f"targets: {counted} (--targets prints them)", f"every sample is in {folder}"]
    found = shmem_tables.rows(measured)
    text = _side_by_side(found, list(measured))
    return Table([_summary(row) for row in found], Summary, text=text, failed=unsafe, notes=notes)


def _measure(args: argparse.Namespace) -> tuple[Path, bool]:
    from tollbar.campaigns import shmem as shmem_campaign
    from tollbar.data import results

    usual = {"launches": LAUNCHES, "rounds": ROUNDS, "budget": BUDGET_S, "iterations": ITERATIONS}
    usual |= QUICK if args.quick else {}
    settings = shmem_campaign.Settings(
        pes=args.ranks or PES,
        launches=args.launches or usual["launches"],
        rounds=args.rounds or usual["rounds"],
        budget_s=args.budget or usual["budget"],
        iterations=usual["iterations"],
        only=args.only,
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    with Watcher(settings.launches * len(settings.pes)) as watcher:
        return told(shmem_campaign.measure(settings, args.output or results.folder(), watcher.report))


def _summary(row: Row) -> Summary:
    from tollbar.report import shmem_tables

    seconds = row.seconds
    return Summary(
        row.experiment.name,
        row.experiment.barrier,
        row.experiment.seconds,
        shmem_tables.published_ratio(row.experiment),
        row.pes,
        seconds.value if seconds else None,
        seconds.low if seconds else None,
        seconds.high if seconds else None,
        row.ratio.value if row.ratio else None,
        row.period.value / 1e3 if row.period else None,
    )


def _side_by_side(found: Sequence[Row], pes: Sequence[int]) -> str:
    """The paper's table as the paper has it, and a column for each number of PEs."""
    row_type = dataclasses.make_dataclass(
        "SideBySide", ["experiment", "published_768", *(f"pes_{each}" for each in pes)]
    )
    lines: dict[str, list[object]] = {}
    for row in found:
        line = lines.setdefault(row.experiment.name, [row.experiment.name, row.experiment.seconds])
        line.append(float(f"{row.seconds.value:.3g}") if row.seconds else None)
    out = io.StringIO()
    write(Table([row_type(*line) for line in lines.values()], row_type), "table", out)
    return f"seconds of {ITERATIONS} iterations\n{out.getvalue()}"

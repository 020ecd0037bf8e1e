# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads|mpi --workload: what a run takes when ranks compute between barriers."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar import results, workloads
    from tollbar.comparison import Candidate
    from tollbar.work_campaign import Over

RANKS = (2,)
LAUNCHES, ROUNDS, BUDGET_S = 6, 2, 120.0
QUICK = {"launches": 3, "rounds": 1, "budget": 15.0}


@dataclass(frozen=True)
class Run:
    """One workload with one barrier."""

    over: str = column("threads, or the MPI")
    ranks: int = column("how many")
    placement: str = column("pinned to processors, or free")
    workload: str = column(
        "computing time before each barrier; ~ by which share it varies; or an application"
    )
    candidate: str = column("the barrier")
    run_us: float = column("one run of all phases: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    computing_us: float = column("what a rank computes in it")
    longest_us: float = column("the least it can take: in each phase, the rank with most to do")
    barrier_us: float = column("what each barrier adds to that")
    efficiency: float = column("the share of the run that is computing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workload", metavar="LIST|paper",
        help="threads and mpi: ranks compute between barriers, and runs are timed: US, US~SHARE for times "
        "that vary, 360us, 2100us, 9450us; paper: those of the NIC paper (with --quick, some of them)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> Table:
    """Measures, stores, and prints what was measured."""
    from tollbar import results

    folder, unsafe = _measure(args)
    stored = results.read_run(folder)
    notes = [f"every run is in {folder}"]
    return Table(rows(stored), Run, failed=unsafe or not stored.launches, notes=notes)


def _measure(args: argparse.Namespace) -> tuple[Path, bool]:
    from tollbar import results, work_campaign

    usual = {"launches": LAUNCHES, "rounds": ROUNDS, "budget": BUDGET_S} | (QUICK if args.quick else {})
    workloads = (
        work_campaign.QUICK if args.quick else work_campaign.WORKLOADS
    ) if args.workload == "paper" else args.workload.split(",")  # fmt: skip
    settings = work_campaign.Settings(
        ranks=args.ranks or RANKS,
        workloads=workloads,
        launches=args.launches or usual["launches"],
        rounds=args.rounds or usual["rounds"],
        budget_s=args.budget or usual["budget"],
        only=args.only,
        placements=args.placement or (),
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    for name in workloads:
        tollbar.parse_workload(name)  # says what is wrong with it
    try:
        over = _over(args)
        situations = len(over) * len(settings.ranks) * len(settings.placements or ("usual",))
        with Watcher(settings.launches * situations) as watcher:
            within = args.output or results.folder()
            return told(work_campaign.measure(settings, over, within, watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None


def _over(args: argparse.Namespace) -> list[Over]:
    from tollbar import mpi_campaign, work_campaign

    if args.kind == "threads":
        return [work_campaign.OverThreads()]
    return [work_campaign.OverMpi(mpi) for mpi in mpi_campaign.chosen(args.mpi, full=args.full)]


def rows(run: results.Run) -> list[Run]:
    """A row for each workload and barrier of a stored run, the fastest barrier first."""
    from tollbar import workloads

    return [
        _row(place, name, candidate, each)
        for place, by_workload in workloads.gather(run.launches).items()
        for name, candidates in by_workload.items()
        for candidate, each in sorted(candidates.items(), key=lambda item: item[1].run.value)
    ]


def _row(place: workloads.Place, name: str, candidate: Candidate, measured: workloads.Measured) -> Run:
    taken = measured.run
    return Run(
        over=place.over,
        ranks=place.ranks,
        placement=place.placement,
        workload=name,
        candidate=candidate.label,
        run_us=taken.value / 1e3,
        low_us=taken.low and taken.low / 1e3,
        high_us=taken.high and taken.high / 1e3,
        computing_us=measured.computing_ns / 1e3,
        longest_us=measured.longest_ns / 1e3,
        barrier_us=measured.barrier_ns / 1e3,
        efficiency=measured.efficiency,
    )

# SPDX-License-Identifier: Apache-2.0
"""tollbar bench --workload: what a run takes when ranks compute between barriers, whatever those run over."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tollbar
from tollbar.cli import bench_udp
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.campaigns.work_over import Over
    from tollbar.data import results, workloads
    from tollbar.data.comparison import Candidate

USUAL = {"ranks": (2,), "launches": 6, "rounds": 2, "budget": 120.0, "batch_us": None}
QUICK = USUAL | {"launches": 3, "rounds": 1, "budget": 15.0}
HOSTS = USUAL | {"ranks": (2, 4, 8, 16), "rounds": 1, "budget": 600.0, "batch_us": 200_000}
HOSTS_QUICK = HOSTS | {"launches": 2, "budget": 180.0, "batch_us": 50_000}
#: 10,000 runs of even the longest application, as in the paper.
HOSTS_FULL = HOSTS | {"ranks": tuple(range(2, 17)), "budget": 36000.0, "batch_us": 100_000_000}


@dataclass(frozen=True)
class Run:
    """One workload with one barrier."""

    over: str = column("threads, the MPI, shmem, hosts, or loopback where there are no hosts")
    ranks: int = column("how many")
    placement: str = column("pinned to processors, or free")
    workload: str = column(
        "computing time before each barrier; ~ by which share it varies; or an application"
    )
    candidate: str = column("the barrier")
    run_us: float = column("one run of all phases: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    computing_us: float = column("computing time of a rank in it")
    longest_us: float = column("lower bound: in each phase, the rank that computes longest")
    barrier_us: float = column("what each barrier adds to that")
    efficiency: float = column("the share of the run that is computing")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workload", metavar="LIST|paper",
        help="threads, mpi, shmem, udp, nic: ranks compute between barriers, and runs are timed: US, "
        "US~SHARE for times that vary, 360us, 2100us, 9450us; paper: those of the NIC paper (with --quick, "
        "some of them; udp, nic: with --full, 10,000 runs of each, hours)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> Table:
    """Measures, stores, and prints what was measured."""
    from tollbar.data import results

    folder, unsafe = _measure(args)
    stored = results.read_run(folder)
    notes = [f"every run is in {folder}"]
    return Table(rows(stored), Run, failed=unsafe or not stored.launches, notes=notes)


def _measure(args: argparse.Namespace) -> tuple[Path, bool]:
    from tollbar.campaigns import work as work_campaign
    from tollbar.data import results

    usual = _usual(args)
    ranks = args.ranks or usual["ranks"]
    for name in (workloads := _workloads(args)):
        tollbar.parse_workload(name)  # says what is wrong with it
    settings = work_campaign.Settings(
        ranks=ranks,
        workloads=workloads,
        launches=args.launches or usual["launches"],
        rounds=args.rounds or usual["rounds"],
        budget_s=args.budget or usual["budget"],
        only=args.only,
        placements=args.placement or (),
        batch_us=usual["batch_us"],
        full=args.full,
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    try:
        with _over(args, ranks) as (over, notes):
            situations = len(work_campaign.Working(settings, over).situations)
            with Watcher(settings.launches * situations) as watcher:
                within = args.output or results.folder()
                return told(work_campaign.measure(settings, over, notes, within, watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None


def _usual(args: argparse.Namespace) -> dict[str, Any]:
    if args.kind in ("udp", "nic"):
        return HOSTS_FULL if args.full else HOSTS_QUICK if args.quick else HOSTS
    return QUICK if args.quick else USUAL


def _workloads(args: argparse.Namespace) -> Sequence[str]:
    from tollbar.campaigns import work as work_campaign

    if args.workload != "paper":
        return args.workload.split(",")
    return work_campaign.QUICK if args.quick else work_campaign.WORKLOADS


@contextlib.contextmanager
def _over(args: argparse.Namespace, ranks: Sequence[int]) -> Iterator[tuple[list[Over], list[str]]]:
    """What the barriers run over while this lasts, and what of it is not available."""
    from tollbar.campaigns import mpi as mpi_campaign
    from tollbar.campaigns import shmem as shmem_campaign
    from tollbar.campaigns import udp as udp_campaign
    from tollbar.campaigns import work_over

    if args.kind == "threads":
        yield [work_over.OverThreads()], []
    elif args.kind == "mpi":
        yield [work_over.OverMpi(mpi) for mpi in mpi_campaign.chosen(args.mpi, full=args.full)], []
    elif args.kind == "shmem":
        if why := shmem_campaign.why_not():
            raise WrongUse(f"OpenSHMEM is not measured: {why}")
        yield [work_over.OverPes()], []
    else:
        bench_udp.refuse_too_many(ranks)
        mpi, why = udp_campaign.open_mpi()
        with udp_campaign.on_hosts(max(ranks)) as (hosts, notes):
            yield work_over.over_hosts(hosts, args.kind == "nic", mpi), notes + ([why] if why else [])


def rows(run: results.Run) -> list[Run]:
    """A row for each workload and barrier of a stored run, the fastest barrier first."""
    from tollbar.data import workloads

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

# SPDX-License-Identifier: Apache-2.0
"""tollbar bench mpi: the options that only it has, and its table of times."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.data.comparison import Candidate, Comparison
    from tollbar.data.mpi_places import Place, Places

RANKS = (2, 4, 8, 16, 32)
LAUNCHES = 6  # the fewest with a 95 % interval for a median
ROUNDS = 3
BUDGET_S = 200.0
FULL = {"launches": 6, "rounds": 4, "budget": 7200.0}
QUICK = {"ranks": (2, 4), "launches": 2, "rounds": 2, "budget": 20.0}


@dataclass(frozen=True)
class Timed:
    """One barrier in one place, fastest first."""

    mpi: str = column("the MPI")
    place: str = column("number of hosts; pinned or free; with a control group for each rank or not")
    ranks: int = column("how many processes")
    candidate: str = column("the barrier; [..]: what implements it; messages: without shared memory")
    period_us: float = column("loop period: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    call_us: float | None = column("median of rank 0's timed calls")
    latency_us: float | None = column("isolated: last entry to last exit")
    skew_us: float | None = column("isolated: first exit to last exit")
    own: float | None = column("loop period / that of the MPI's own barrier with its default settings")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mpi", type=arguments.names, default=(), metavar="NAME[,NAME...]",
        help="mpi and hybrid: openmpi, mpich, impi, or with a major version: openmpi5 "
        "(default: one of each; --full: all that are installed)",
    )  # fmt: skip
    parser.add_argument(
        "--hosts", type=_count, default=1, metavar="N",
        help="mpi only: over N hosts made of network namespaces, which needs root and a checkout",
    )  # fmt: skip
    parser.add_argument(
        "--full", action="store_true",
        help="mpi and hybrid: every MPI, every barrier it has, every plan; about an hour; "
        "crowd: more threads and longer computing, hours; udp, nic: every plan between 2 to 16 hosts, hours",
    )  # fmt: skip
    parser.add_argument(
        "--times", action="store_true", help="mpi only: prints the time of each barrier instead of targets"
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 64):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of hosts from 1 to 64")
    return int(text)


def refuse_options_of_others(args: argparse.Namespace) -> None:
    """No option is passed over in silence."""
    of_threads = {"--placement": args.placement, "--spinners": args.spinners}
    of_mpi = {"--hosts": args.hosts > 1, "--times": args.times}
    of_hybrid = {"--threads": args.threads, "--level": args.level}
    of_both = {"--mpi": args.mpi, "--full": args.full}
    of_crowd = {
        "--processors": args.processors, "--compute-us": args.compute_us, "--variation": args.variation,
    }  # fmt: skip
    of_shmem = {"--targets": args.targets, "--model": args.model}
    workload = {"--workload": args.workload is not None}
    of_hosts = of_threads | of_mpi | of_hybrid | of_shmem | of_crowd | {"--mpi": args.mpi}
    beside_workloads = of_shmem if args.workload is not None else {}
    others = {
        "threads": of_mpi | of_hybrid | of_both | of_shmem | of_crowd,
        "mpi": of_threads | of_hybrid | of_shmem | of_crowd,
        "hybrid": of_threads | of_mpi | of_shmem | workload | of_crowd,
        "shmem": of_threads | of_mpi | of_hybrid | of_both | beside_workloads | of_crowd,
        "udp": of_hosts,
        "nic": of_hosts,
        "crowd": of_threads
        | of_mpi
        | of_hybrid
        | of_shmem
        | workload
        | {"--mpi": args.mpi, "--rounds": args.rounds},
    }[args.kind]
    for name, given in others.items():
        if given:
            beside = " --workload" if name in beside_workloads else ""
            raise WrongUse(f"{name} is not an option of `tollbar bench {args.kind}{beside}`")
    if args.full and args.quick:
        raise WrongUse("--full and --quick exclude each other")


def measure(args: argparse.Namespace) -> tuple[Path, bool]:
    """Runs what the arguments ask for; gives the folder, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import mpi as mpi_campaign
    from tollbar.data import results

    usual = {"ranks": RANKS, "launches": LAUNCHES, "rounds": ROUNDS, "budget": BUDGET_S}
    usual |= FULL if args.full else QUICK if args.quick else {}
    if args.hosts > 1:
        usual["ranks"] = (args.hosts,)
    ranks = args.ranks or usual["ranks"]
    if args.hosts > 1 and (uneven := [each for each in ranks if each % args.hosts]):
        raise WrongUse(f"--ranks {uneven[0]} cannot be spread evenly over {args.hosts} hosts")
    settings = mpi_campaign.Settings(
        ranks=ranks,
        mpis=args.mpi,
        hosts=args.hosts,
        launches=args.launches or usual["launches"],
        rounds=args.rounds or usual["rounds"],
        budget_s=args.budget or usual["budget"],
        only=args.only,
        full=args.full,
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    try:
        work, notes = mpi_campaign.prepare(settings)
        if not work.situations:
            raise WrongUse("nothing is left to measure: no installed MPI can be measured with these --ranks")
        with Watcher(settings.launches * len(work.situations)) as watcher:
            return told(mpi_campaign.measure(work, notes, args.output or results.folder(), watcher.report))
    except (FileNotFoundError, RuntimeError) as error:
        raise WrongUse(error) from None


def times(places: Places, failed: bool, notes: Sequence[str]) -> Table:
    """The table of times."""
    rows = [row for place, each in places.items() for row in _rows(place, each)]
    return Table(rows, Timed, failed=failed, notes=notes)


def _rows(place: Place, comparison: Comparison) -> list[Timed]:
    found = [_timed(place, comparison, candidate) for candidate in comparison.candidates]
    return sorted(found, key=lambda row: row.period_us)


def _timed(place: Place, comparison: Comparison, candidate: Candidate) -> Timed:
    from tollbar.data import mpi_places
    from tollbar.data.comparison import summarise

    measured, own = comparison.candidates[candidate], mpi_places.own_of(comparison)
    period, call = summarise(measured.period), summarise(measured.call)
    latency, skew = summarise(measured.alone), summarise(measured.alone_skew)
    own_period = summarise(comparison.candidates[own].period) if own else None

    def us(nanoseconds: float | None) -> float | None:
        return None if nanoseconds is None else nanoseconds / 1e3

    return Timed(
        place.mpi,
        place.layout,
        place.ranks,
        candidate.label,
        period.value / 1e3,
        us(period.low),
        us(period.high),
        us(call and call.value),
        us(latency and latency.value),
        us(skew and skew.value),
        period.value / own_period.value if own_period else None,
    )

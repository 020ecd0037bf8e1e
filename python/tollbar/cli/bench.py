# SPDX-License-Identifier: Apache-2.0
"""tollbar bench: measures the barriers that run here, keeps every sample, compares them with targets.

The kind decides what `--ranks` are, threads or processes, and which of the other options count.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

from tollbar.cli import arguments, bench_crowd, bench_hybrid, bench_mpi, bench_shmem, bench_udp, bench_work
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns
from tollbar.cli.watching import Watcher, told

RANKS = (2, 3, 4, 6, 8, 12, 16, 64)
PLACEMENTS = ("pinned", "free")
LAUNCHES = 6  # the fewest with a 95 % interval for a median
ROUNDS = 4
BUDGET_S = 210.0
QUICK = {"ranks": (2, 4, 8), "launches": 3, "rounds": 2, "budget": 30.0}


@dataclass(frozen=True)
class Compared:
    """One target and how far this machine is from it."""

    case: str = column("what is compared")
    mpi: str | None = column("the MPI, where ranks are its processes")
    ranks: int | None = column("number of threads or processes")
    placement: str | None = column("pinned to processors, or free; how many hosts")
    candidate: str | None = column("the barrier")
    value: float | None = column("the ratio reached")
    low: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high: float | None = column("upper end of it")
    target: str = column("the target ratio")
    verdict: str = column("met, missed, tie (the interval contains the target), or why there is no verdict")


def add_parser(commands: argparse._SubParsersAction) -> None:
    about = __doc__.partition(": ")[2].partition("\n")[0]
    parser = commands.add_parser("bench", help=about, epilog=describe_columns(Compared))
    parser.add_argument(
        "kind", choices=("threads", "crowd", "mpi", "hybrid", "shmem", "udp", "nic"),
        help="threads: the barriers between threads; crowd: those of threads that compute between them, on "
        "few processors, beside the simulator; mpi: those between the processes of an MPI job; "
        "hybrid: between the threads of such processes; shmem: split barriers of OpenSHMEM; "
        "udp: between hosts over UDP, beside an MPI over TCP; the hosts are network namespaces, "
        "which needs root; nic: the same, and barriers that the hosts' network cards run",
    )  # fmt: skip
    parser.add_argument(
        "--ranks", type=_ranks, metavar="P[,P...]",
        help=f"threads: {','.join(map(str, RANKS))}; above 32 only what may be close, "
        f"unless --only names more; crowd: {','.join(map(str, bench_crowd.RANKS))}, with --full "
        f"{','.join(map(str, bench_crowd.FULL['ranks']))}; mpi: {','.join(map(str, bench_mpi.RANKS))}; "
        f"hybrid: {','.join(map(str, bench_hybrid.RANKS))}; shmem: {','.join(map(str, bench_shmem.PES))}; "
        f"udp, nic: {','.join(map(str, bench_udp.RANKS))}, with --full 2 to 16",
    )  # fmt: skip
    parser.add_argument(
        "--placement", type=_placements, metavar="pinned,free", help="of threads (default: both)"
    )
    parser.add_argument(
        "--launches",
        type=_positive,
        metavar="L",
        help=f"processes a program and situation (default: {LAUNCHES})",
    )
    parser.add_argument(
        "--rounds", type=_positive, metavar="R", help=f"most rounds in a launch (default: {ROUNDS})"
    )
    parser.add_argument(
        "--budget", type=_seconds, metavar="SECONDS", help=f"stop after this time (default: {BUDGET_S:.0f})"
    )
    parser.add_argument(
        "--only",
        type=arguments.names,
        default=(),
        metavar="NAME[,NAME...]",
        help="only these barriers; mpi: these settings of the MPI, doors and plans",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a first look: half a minute; udp, nic: two or three"
    )
    bench_mpi.add_arguments(parser)
    bench_hybrid.add_arguments(parser)
    bench_crowd.add_arguments(parser)
    bench_work.add_arguments(parser)
    bench_shmem.add_arguments(parser)
    parser.add_argument(
        "--spinners", action="store_true",
        help="also barriers that only spin where threads share processors: thousands of times slower",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of the shuffling; recorded (default: from the clock)"
    )
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="where to store the run (default: the results folder)"
    )
    parser.set_defaults(run=run)


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_at_least_two(part) for part in text.split(",")))


def _at_least_two(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 2 <= int(text) <= 4096):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of threads from 2 to 4096")
    return int(text)


def _placements(text: str) -> tuple[str, ...]:
    for part in text.split(","):
        if part not in PLACEMENTS:
            raise argparse.ArgumentTypeError(f"'{part}' is not one of {', '.join(PLACEMENTS)}")
    return tuple(dict.fromkeys(text.split(",")))


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number, at least 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return seconds


def run(args: argparse.Namespace) -> Table:
    from tollbar.data import comparison, mpi_places, results
    from tollbar.report import mpi_targets, targets

    bench_mpi.refuse_options_of_others(args)
    if args.workload is not None:
        return bench_work.run(args)
    if args.kind in ("udp", "nic"):
        return bench_udp.run(args)
    if args.kind == "shmem":
        return bench_shmem.run(args, Compared)
    if args.kind == "crowd":
        return bench_crowd.run(args)
    if args.kind == "hybrid":
        folder, unsafe = bench_hybrid.measure(args)
        places = mpi_places.gather(results.read_run(folder).launches)
        return bench_hybrid.times(places, unsafe, [f"every sample is in {folder}"])
    if args.kind == "mpi":
        folder, unsafe = bench_mpi.measure(args)
        places = mpi_places.gather(results.read_run(folder).launches)
        reached, floors = mpi_targets.evaluate(places), mpi_targets.floors(places)
    else:
        folder, unsafe = measure(args)
        compared = comparison.compare(results.read_run(folder).launches)
        reached, floors = targets.evaluate(compared), targets.floors(compared)
    notes = ["floors: " + "; ".join(floors)] if floors else []
    notes.append(f"every sample is in {folder}")
    if args.kind == "mpi" and args.times:
        return bench_mpi.times(places, unsafe, notes)
    rows = [Compared(**{"mpi": None} | vars(each)) for each in reached]
    return Table(rows, Compared, failed=unsafe, notes=notes)


def measure(args: argparse.Namespace) -> tuple[Path, bool]:
    """Runs what the arguments ask for; gives the folder, and whether any barrier let somebody leave early.

    Says on stderr what is not available.
    """
    from tollbar.campaigns import threads as campaign
    from tollbar.data import results

    settings = campaign.Settings(
        ranks=args.ranks or (QUICK["ranks"] if args.quick else RANKS),
        placements=args.placement or PLACEMENTS,
        launches=args.launches or (QUICK["launches"] if args.quick else LAUNCHES),
        rounds=args.rounds or (QUICK["rounds"] if args.quick else ROUNDS),
        budget_s=args.budget or (QUICK["budget"] if args.quick else BUDGET_S),
        only=args.only,
        spinners=args.spinners,
        seed=time.time_ns() % 2**31 if args.seed is None else args.seed,
    )
    within = args.output or results.folder()
    try:
        with Watcher(settings.launches * len(settings.situations)) as watcher:
            return told(campaign.measure(settings, within, watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None

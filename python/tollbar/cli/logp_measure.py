# SPDX-License-Identifier: Apache-2.0
"""tollbar logp measure: measures L, o_s, o_r and g between two neighbours here, by round trips."""

from __future__ import annotations

import argparse
import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, verb, write
from tollbar.cli.watching import MeasuringProgress, finished

if TYPE_CHECKING:
    from tollbar.campaigns.logp import Link

#: Launches, of processes or jobs, and rounds in each; 6 is the fewest with a 95 % interval for a median.
EFFORTS = {"quick": (1, 1), "usual": (6, 4), "full": (24, 8)}
BUDGET_S = 60.0


@dataclass(frozen=True)
class Measured:
    program: str = column("the measuring program, or the MPI")
    link: str = column("words of shared memory, messages of the MPI, frames")
    parameter: str = column(
        "L, o_s, o_r (what a message costs its sender, its receiver), max(o,g) (of both), o_s+L+o_r (one "
        "message on the longest path), floor (one cache-line transfer); o and 2o+L of older programs"
    )
    us: float = column("its value: median over launches, in microseconds")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")


def add_parser(ways) -> None:
    parser = verb(ways, "measure", __doc__, Measured)
    parser.add_argument(
        "transport",
        choices=arguments.MEASURED,
        metavar="TRANSPORT",
        help="threads: by words; mpi: words and messages; udp: on the loopback",
    )
    arguments.add_mpis(parser, "which MPIs, such as mpich or openmpi5 (default: the one that mpirun starts)")
    parser.add_argument(
        "--effort",
        choices=tuple(EFFORTS),
        metavar="HOW",
        default="usual",
        help="quick: one launch; usual: six; full: 24",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="where to store the run (default: the results folder)"
    )


def run(args: argparse.Namespace) -> Table:
    from tollbar.campaigns import logp as logp_measure
    from tollbar.campaigns.campaign import Request
    from tollbar.data import results

    if args.mpi and args.transport != "mpi":
        raise WrongUse(f"--mpi is not an option of `tollbar logp measure {args.transport}`")
    launches, rounds = EFFORTS[args.effort]
    request = Request((2,), launches, BUDGET_S, rounds, mpis=args.mpi, seed=time.time_ns() % 2**31)
    within = args.output or results.folder()
    try:
        with MeasuringProgress(launches * max(1, len(args.mpi))) as watcher:
            folder, _ = finished(logp_measure.measure(args.transport, request, within, watcher.report))
    except FileNotFoundError as error:
        raise WrongUse(error) from None
    links = logp_measure.links(results.read(folder))
    return Table(
        [row for link in links for row in _rows(link)],
        Measured,
        text=_written(links),
        notes=[f"every sample is in {folder}"],
    )


def _rows(link: Link) -> list[Measured]:
    overheads = {"o": link.o} if link.o_r is None else {"o_s": link.o, "o_r": link.o_r}
    path = "2o+L" if link.o_r is None else "o_s+L+o_r"
    intervals = {"L": link.L, **overheads, "max(o,g)": link.g, path: link.path}
    if link.floor:
        intervals["floor"] = link.floor
    return [
        Measured(link.program, link.name, name, interval.value, interval.low, interval.high)
        for name, interval in intervals.items()
    ]


def _written(links: list[Link]) -> str:
    out = io.StringIO()
    for link in links:
        write(Table(_rows(link)), "table", out)
        logp = link.logp
        if link.overlaps:
            out.write("the overheads overlap the transfer; prices take all of the path as overhead\n")
        overheads = f"{logp.o:.6g}" if link.o_r is None else f"{logp.o_s:.6g},{logp.o_r:.6g}"
        out.write(f"--logp {logp.L:.6g},{overheads},{logp.g:.6g}\n\n")
    return out.getvalue().rstrip("\n") + "\n"

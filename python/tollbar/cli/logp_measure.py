# SPDX-License-Identifier: Apache-2.0
"""tollbar logp measure: measures L, o_s, o_r and g between two neighbours here, by round trips."""

from __future__ import annotations

import argparse
import io
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli import arguments, logp_cores
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns, write
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.campaigns.logp import Link

LAUNCHES = 6  # the fewest with a 95 % interval for a median
ROUNDS = 4
BUDGET_S = 60.0


@dataclass(frozen=True)
class Measured:
    program: str = column("the measuring program, or the MPI")
    link: str = column("words of shared memory, messages of the MPI, puts or stores, frames")
    parameter: str = column(
        "L, o_s, o_r (what a message costs its sender, its receiver), max(o,g) (of both), o_s+L+o_r (one "
        "message on the longest path), floor (one cache-line transfer); o and 2o+L of older programs"
    )
    us: float = column("its value: median over launches, in microseconds")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")


def add_parser(ways) -> None:
    parser = ways.add_parser(
        "measure",
        help=__doc__.partition(": ")[2],
        description=__doc__,
        epilog=describe_columns(Measured) + "\n\nof cores, " + describe_columns(logp_cores.Measured),
    )
    parser.add_argument(
        "transport", choices=(*arguments.MEASURED, "cores"),
        help="threads: of one process, by words; mpi: processes, by words and by messages; "
        "shmem: PEs, by puts and by stores; udp: sockets on the loopback, by frames; "
        "cores: cache lines between CPUs, for `tollbar simulate cores --machine FILE`",
    )  # fmt: skip
    parser.add_argument(
        "--mpi",
        type=arguments.names,
        default=(),
        metavar="NAME[,NAME...]",
        help="which MPIs, such as mpich or openmpi5 (default: the one that mpirun starts)",
    )
    parser.add_argument(
        "--launches",
        type=_positive,
        default=LAUNCHES,
        metavar="L",
        help=f"processes or jobs a program (default: {LAUNCHES}, the fewest with an interval)",
    )
    parser.add_argument(
        "--rounds", type=_positive, default=ROUNDS, metavar="R", help=f"in a launch (default: {ROUNDS})"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        help="where to store the run (default: the results folder); of cores the file (default: cores.json)",
    )


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1000):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to 1000")
    return int(text)


def run(args: argparse.Namespace) -> Table:
    from tollbar.campaigns import logp as logp_measure
    from tollbar.campaigns.campaign import Asked
    from tollbar.data import results

    if args.transport == "cores":
        return logp_cores.table(args)
    if args.mpi and args.transport != "mpi":
        raise WrongUse(f"--mpi is not an option of `tollbar logp measure {args.transport}`")
    asked = Asked((2,), args.launches, BUDGET_S, args.rounds, mpis=args.mpi, seed=time.time_ns() % 2**31)
    within = args.output or results.folder()
    try:
        with Watcher(args.launches * max(1, len(args.mpi))) as watcher:
            folder, _ = told(logp_measure.measure(args.transport, asked, within, watcher.report))
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
        Measured(link.program, link.name, name, each.value, each.low, each.high)
        for name, each in intervals.items()
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

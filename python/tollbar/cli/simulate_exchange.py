# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate exchange: simulates a dynamic sparse data exchange between PEs, and what ends it.

Raymond, "Implementing Split-Mode Barriers in OpenSHMEM": every PE writes to a few others, which do not know
who writes to them; a split barrier tells that nothing more will come. Every letter is simulated on the cards
of the paper's nodes; the split barrier is priced. A row is one way to signal, with so many PEs.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, describe_columns
from tollbar.models import shmem_published

_PES = "2,8,32,128,768"
_MOST_PES = 4096
_DIGITS = 3  # of a microsecond


@dataclass(frozen=True)
class Simulated:
    """One way to signal."""

    pes: int = column("how many PEs")
    experiment: str = column("how the barrier signals, by the paper's names")
    barrier_us: float = column("the split barrier alone")
    send_us: float = column("until the last PE has announced its letters")
    fetch_us: float = column("in which the last PE fetches the letters for it")
    closing_us: float = column("the barrier that ends an iteration")
    iteration_us: float = column("all of these")
    published_us: float | None = column("the paper, with as many PEs")


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "exchange",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__,
        epilog=describe_columns(Simulated),
    )
    parser.add_argument(
        "--pes", type=arguments.rank_counts, default=arguments.rank_counts(_PES), metavar="N[,N...]",
        help=f"how many; A..B stands for every number between (default: {_PES})",
    )  # fmt: skip
    parser.add_argument(
        "--pes-a-node", type=int, default=shmem_published.PES_A_NODE, metavar="N",
        help=f"so many share a card (default: {shmem_published.PES_A_NODE})",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar.models import exchange

    sizes = list(arguments.each(args.pes))
    if not 2 <= min(sizes) <= max(sizes) <= _MOST_PES:
        raise WrongUse(f"an exchange is between 2 and {_MOST_PES} PEs")
    if not 1 <= args.pes_a_node <= _MOST_PES:
        raise WrongUse(f"--pes-a-node is a number from 1 to {_MOST_PES}, not {args.pes_a_node}")
    rows: list[Simulated] = []
    with Progress("simulating", total=sum(sizes)) as progress:
        for pes in sizes:
            rest = exchange.exchange(pes, args.pes_a_node)
            for each in exchange.table(pes, args.pes_a_node):
                told = each.published_s
                parts = (each.barrier_us, rest.send_us, rest.fetch_us, rest.closing_us)
                published_us = None if told is None else told * 1e6 / shmem_published.ITERATIONS
                times = (round(us, _DIGITS) for us in (*parts, sum(parts)))
                rows.append(Simulated(pes, each.experiment, *times, published_us))
            progress.advance(pes)
    return Table(rows, notes=["simulated, not measured: the costs are those that the paper's table fixes"])

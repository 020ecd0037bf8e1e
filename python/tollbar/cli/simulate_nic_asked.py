# SPDX-License-Identifier: Apache-2.0
"""What `tollbar simulate nic` is asked: plans, cards, nodes, and what the nodes compute between barriers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse

_PARTS = ("send", "sdma", "xmit", "network", "recv", "rdma", "hrecv")
DRAWN_LOOPS = 1000


@dataclass(frozen=True)
class Work:
    """What the nodes do in a loop."""

    compute_us: Sequence[float] = (0.0,)
    variation: float = 0.0
    application: str | None = None

    @property
    def sum_us(self) -> float:
        return sum(self.compute_us)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "plans", nargs="*", type=arguments.plan, default=["pairwise"], metavar="PLAN",
        help="default: pairwise, the paper's own",
    )  # fmt: skip
    card = parser.add_argument_group("the card")
    card.add_argument(
        "--card", type=_cards, metavar="CARD[,CARD...]",
        help="lanai4.3 or lanai7.2, with parameters in the middle of the range that fits (default: both)",
    )  # fmt: skip
    card.add_argument(
        "--parts", type=_parts, metavar="PART=US[,...]",
        help=f"your own card: {', '.join(_PARTS)} in microseconds; a part that is not named takes no time",
    )  # fmt: skip
    card.add_argument(
        "--without-mpi", action="store_true",
        help="leave out what MPI adds to the NIC-based barrier; the host-based one is unchanged",
    )  # fmt: skip
    card.add_argument(
        "--interval", action="store_true",
        help="add the range over all parameters that fit what is printed about the card",
    )  # fmt: skip
    card.add_argument(
        "--ranges", action="store_true", help="print what the printed latencies say about the parameters"
    )
    card.add_argument(
        "--fit", type=Path, metavar="FILE",
        help="fit the parameters to measured latencies of a pairwise exchange, a CSV file with the columns "
        "nodes,host_us,nic_us, and print them with the residuals",
    )  # fmt: skip
    card.add_argument(
        "--ratio", type=float, metavar="R",
        help="with --ranges: what both cards say of the slower one, when the terms of the faster one are "
        "shorter by this ratio, such as 2 for twice the clock, and the hosts are the same",
    )  # fmt: skip
    work = parser.add_argument_group("the nodes")
    work.add_argument(
        "--nodes", type=arguments.rank_counts, default=[range(8, 9)], metavar="P[,P...]",
        help="how many; A..B stands for every number between (default: 8)",
    )  # fmt: skip
    work.add_argument(
        "--compute-us", type=_numbers, default=(), metavar="US[,US...]",
        help="computing time before each barrier; a row for each",
    )  # fmt: skip
    work.add_argument(
        "--application", type=_applications, default=(), metavar="NAME[,NAME...]",
        help="synthetic applications 360us, 2100us, 9450us; times vary by 0.1 unless --variation says else",
    )  # fmt: skip
    work.add_argument(
        "--variation", type=_numbers, metavar="SHARE[,...]",
        help="computing times vary uniformly by this share up and down, such as 0.2",
    )  # fmt: skip
    work.add_argument(
        "--loops", type=int, metavar="N",
        help=f"how many loops the mean is of (default: 1, or {DRAWN_LOOPS} where times vary)",
    )  # fmt: skip
    work.add_argument("--seed", type=int, default=1, metavar="N", help="seed of varying times (default: 1)")
    work.add_argument(
        "--efficiency", type=_numbers, default=(), metavar="E[,E...]",
        help="print how much must be computed between barriers for these efficiencies",
    )  # fmt: skip


def check(args: argparse.Namespace) -> None:
    """No option is passed over in silence."""
    if args.card and args.parts:
        raise WrongUse("--card and --parts both describe the card; give one of them")
    if args.parts and (args.interval or args.ranges):
        raise WrongUse("--parts fix every parameter; --interval and --ranges are for cards by name")
    if args.fit and (args.card or args.parts or args.ranges or args.interval or args.plans != ["pairwise"]):
        raise WrongUse("--fit finds the card for a pairwise exchange; leave out plans and other cards")
    if args.ratio is not None and not args.ranges:
        raise WrongUse("--ratio is for --ranges")
    if not 0 <= args.seed < 2**64:
        raise WrongUse(f"--seed is a number from 0 to 2^64 - 1, not {args.seed}")
    if args.loops is not None and args.loops < 1:
        raise WrongUse(f"--loops is at least 1, not {args.loops}")


def work(args: argparse.Namespace) -> list[Work]:
    """A loop or an application for each row, or none: a single barrier."""
    loops = [((compute_us,), 0.0, None) for compute_us in args.compute_us]
    loops += [(*tollbar.parse_workload(name), name) for name in args.application]
    if args.variation is not None and not loops:
        raise WrongUse("--variation is of computing times; give --compute-us or --application")
    return [
        Work(tuple(compute_us), variation, name)
        for compute_us, usual, name in loops
        for variation in args.variation or (usual,)
    ] or [Work()]


def _cards(text: str) -> list[str]:
    return _known(text, tollbar.nic_cards(), "a card")


def _applications(text: str) -> list[str]:
    return _known(text, list(tollbar.nic_applications()), "an application")


def _known(text: str, names: Sequence[str], what: str) -> list[str]:
    for name in text.split(","):
        if name not in names:
            raise argparse.ArgumentTypeError(f"{what} is one of {', '.join(names)}, not '{name}'")
    return text.split(",")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of numbers, such as 64,128") from None


def _parts(text: str) -> tollbar.NicCard:
    given: dict[str, float] = {}
    for pair in text.split(","):
        part, _, us = pair.partition("=")
        if part not in _PARTS or part in given:
            raise argparse.ArgumentTypeError(
                f"'{pair}' is not PART=US with each of {', '.join(_PARTS)} at most once"
            )
        try:
            given[part] = float(us)
        except ValueError:
            raise argparse.ArgumentTypeError(f"'{pair}': '{us}' is not a time in microseconds") from None
    return tollbar.NicCard(**{f"{part}_us": us for part, us in given.items()})

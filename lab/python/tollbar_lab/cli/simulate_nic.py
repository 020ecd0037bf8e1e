# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate nic: barriers on the host against barriers on the network card, after Buntinas et al.

Every node has a time line: Send, SDMA, Xmit, Network, Recv, RDMA, HRecv. Without computing times a row is one
barrier that all nodes enter at once; with them it is a loop, or one run of an application.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from typing import Literal

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import Interrupted
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, verb

import tollbar_lab

_PARTS = ("send", "sdma", "xmit", "network", "recv", "rdma", "hrecv")
_DRAWN_LOOPS = 1000
_SEED = 1


@dataclass(frozen=True)
class Work:
    """The work of the nodes in a loop."""

    compute_us: tuple[float, ...] = (0.0,)
    variation: float = 0.0
    application: str | None = None

    @property
    def sum_us(self) -> float:
        return sum(self.compute_us)


@dataclass(frozen=True)
class Comparison:
    """One plan on one card and number of nodes."""

    plan: str = column("the plan's spelling")
    card: str = column("its preset, or parts where its parts were given")
    nodes: int = column("how many")
    steps: int = column("steps of the plan, as the paper counts them")
    application: str | None = column("the synthetic application")
    compute_us: float | None = column("mean computing time of a loop")
    variation: float | None = column("by which share each computing time may differ")
    host_us: float = column("host-based: a barrier, or a whole loop where something is computed")
    nic_us: float = column("NIC-based: the same")
    factor: float = column("host-based over NIC-based")
    saved_us: float = column("host-based less NIC-based")
    host_efficiency: float | None = column("share of the loop that is computing, host-based")
    nic_efficiency: float | None = column("the same, NIC-based")


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = verb(kinds, "nic", __doc__, Comparison)
    arguments.add_plans(parser, ["pairwise"], "pairwise, the paper's own")
    ranks = "nodes; A..B stands for every number between (default: 8)"
    arguments.add_ranks(parser, ranks, default=[range(8, 9)])
    parser.add_argument(
        "--card",
        type=_cards,
        default=dict.fromkeys(tollbar_lab.nic_presets()),
        metavar="CARD,...",
        help=f"{', '.join(tollbar_lab.nic_presets())} (default: both), or your own: PART=US,... of "
        f"{', '.join(_PARTS)}, each 0 unless it is named",
    )
    parser.add_argument(
        "--compute",
        type=arguments.listed(_work),
        default=(Work(),),
        metavar="US[~S],...",
        help="computing before each barrier, S: varying by this share; or the paper's applications "
        f"{', '.join(tollbar_lab.nic_applications())}, which vary by 0.1 unless ~S says else",
    )


def _cards(text: str) -> dict[str, tollbar_lab.NicParts | None]:
    """Presets by their names, or one card by its parts."""
    if "=" not in text:
        return dict.fromkeys(arguments.listed(arguments.one_of(tollbar_lab.nic_presets()))(text))
    given = arguments.pairs(dict.fromkeys(_PARTS, arguments.microseconds))(text)
    try:
        return {"parts": tollbar_lab.NicParts(**{f"{part}_us": us for part, us in given.items()})}
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _work(text: str) -> Work:
    name, varies, share = text.partition("~")
    if name not in tollbar_lab.nic_applications():
        us, variation = arguments.computing(text)
        return Work((us,), variation)
    times, usual = tollbar.parse_workload(name)
    return Work(tuple(times), arguments.number(float, 0, 1, "share")(share) if varies else usual, name)


def run(args: argparse.Namespace) -> Table:
    cases = list(itertools.product(args.plans, args.card, arguments.sizes(args.ranks), args.compute))
    rows: list[Comparison] = []
    with Progress("simulating", total=len(cases)) as progress:
        for done, (plan, name, nodes, loop) in enumerate(cases):
            watch = _Watch(f"row {done + 1} of {len(cases)}")
            rows.append(_compare(tollbar.plan(plan, nodes), name, args.card[name], loop, watch))
            progress.advance(1)
    return Table(rows)


def _compare(
    plan: tollbar.Plan, name: str, parts: tollbar_lab.NicParts | None, work: Work, watch: _Watch
) -> Comparison:
    card = parts or tollbar_lab.nic_parts(name)
    host_us = _loop_us(plan, "host", card, work, watch)
    nic_us = _loop_us(plan, "nic", card, work, watch)
    computed = work.sum_us or None
    return Comparison(
        plan=plan.name,
        card=name,
        nodes=plan.ranks,
        steps=tollbar_lab.nic_steps(plan)[0],
        application=work.application,
        compute_us=computed,
        variation=work.variation if computed else None,
        host_us=host_us,
        nic_us=nic_us,
        factor=host_us / nic_us if nic_us else 1.0,
        saved_us=host_us - nic_us,
        host_efficiency=computed and computed / host_us,
        nic_efficiency=computed and computed / nic_us,
    )


def _loop_us(
    plan: tollbar.Plan, where: Literal["host", "nic"], card: tollbar_lab.NicParts, work: Work, watch: _Watch
) -> float:
    loops = _DRAWN_LOOPS if work.variation else 1
    try:
        outcome = tollbar_lab.simulate_nic(
            plan, where, card, compute_us=work.compute_us, variation=work.variation, runs=loops, seed=_SEED, watch=watch
        )
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {watch.which}: {watch.progress}") from None
    return outcome.last_us / loops


class _Watch:
    """Remembers how far the simulation has come."""

    def __init__(self, which: str) -> None:
        self.which = which
        self.progress = "it had just begun"

    def __call__(self, simulated_us: float, passed: int, total: int) -> None:
        self.progress = f"{simulated_us / 1e6:.6g} s were simulated, {passed / total:.1%} of the barriers passed"

# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate nic: barriers on the host against barriers on the network card, after Buntinas et al.

Every node has a time line: Send, SDMA, Xmit, Network, Recv, RDMA, HRecv. Without computing times a row is one
barrier that all nodes enter at once; with them it is a loop, or one run of an application.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import tollbar
from tollbar.cli import arguments, nic_fitted, simulate_nic_asked
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.simulate_nic_asked import Work
from tollbar.cli.simulate_scheduler import Interrupted
from tollbar.cli.table import Table, column, describe_columns


@dataclass(frozen=True)
class Comparison:
    """One plan on one card and number of nodes."""

    plan: str = column("the plan's spelling")
    card: str = column("its preset, or parts where --parts describes it")
    nodes: int = column("how many")
    steps: int = column("steps of the plan, as the paper counts them")
    application: str | None = column("the synthetic application")
    compute_us: float | None = column("mean computing time of a loop")
    variation: float | None = column("by which share each computing time may differ")
    efficiency: float | None = column("C / (C + B) that is to be reached")
    host_us: float = column("host-based: a barrier, or a whole loop where something is computed")
    nic_us: float = column("NIC-based: the same")
    factor: float = column("host-based over NIC-based")
    saved_us: float = column("host-based less NIC-based")
    host_efficiency: float | None = column("share of the loop that is computing, host-based")
    nic_efficiency: float | None = column("the same, NIC-based")
    host_compute_us: float | None = column("least computing time C for the efficiency, host-based")
    nic_compute_us: float | None = column("the same, NIC-based")
    host_loop_us: float | None = column("the loop C + B at the efficiency, which the paper's Figure 7 plots")
    nic_loop_us: float | None = column("the same, NIC-based")
    nic_low_us: float | None = column("least nic_us of all parameters that fit what is printed")
    nic_high_us: float | None = column("greatest")
    factor_low: float | None = column("least factor of these parameters")
    factor_high: float | None = column("greatest")


@dataclass(frozen=True)
class Term:
    """What the printed latencies say of one term."""

    card: str = column("whose latencies these are")
    term: str = column("a = Send + RDMA + HRecv, b = Network + Recv, H = a + b + SDMA")
    low: float = column("least value, in microseconds; the factor's limit is a ratio")
    high: float = column("greatest value")
    identifiable: bool = column("whether the latencies fix it")


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "nic",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__,
        epilog="\n\n".join(
            (
                describe_columns(Comparison),
                "with --ranges, " + describe_columns(Term),
                "with --fit, " + describe_columns(nic_fitted.Fitted),
            )
        ),
    )
    simulate_nic_asked.add_arguments(parser)


def run(args: argparse.Namespace) -> Table:
    simulate_nic_asked.check(args)
    if args.fit:
        return nic_fitted.table(args.fit)
    if args.ranges:
        return Table(_terms(args.card or tollbar.nic_cards(), args.ratio))
    work = simulate_nic_asked.work(args)
    if args.efficiency and work != [Work()]:
        raise WrongUse("--efficiency asks how much to compute; leave out --compute-us and --application")
    cards = {"parts": args.parts} if args.parts else dict.fromkeys(args.card or tollbar.nic_cards())
    cases = list(itertools.product(args.plans, cards, arguments.each(args.nodes), work))
    rows: list[Comparison] = []
    with Progress("simulating", total=len(cases)) as progress:
        for done, (plan, name, nodes, loop) in enumerate(cases):
            watch = _Watch(f"row {done + 1} of {len(cases)}")
            rows += _compare(tollbar.plan(plan, nodes), name, cards[name], loop, args, watch)
            progress.advance(1)
    return Table(rows)


def _compare(
    plan: tollbar.Plan, name: str, parts: tollbar.NicCard | None, work: Work,
    args: argparse.Namespace, watch: _Watch,
) -> list[Comparison]:  # fmt: skip
    def elapsed_us(card: tollbar.NicCard) -> tuple[float, float]:
        below = card.without_mpi() if args.without_mpi else card
        host_us = _loop_us(plan, "host", card, work, args, watch)
        return host_us, _loop_us(plan, "nic", below, work, args, watch)

    host_us, nic_us = elapsed_us(parts or tollbar.nic_card(name))
    ends = [elapsed_us(tollbar.nic_card(name, share)) for share in (0, 0.5, 1)] if args.interval else []
    computed = work.sum_us or None
    return [
        Comparison(
            plan=plan.name,
            card=name,
            nodes=plan.ranks,
            steps=tollbar.nic_steps(plan)[0],
            application=work.application,
            compute_us=computed,
            variation=work.variation if computed else None,
            efficiency=efficiency,
            host_us=host_us,
            nic_us=nic_us,
            factor=_ratio(host_us, nic_us),
            saved_us=host_us - nic_us,
            host_efficiency=computed and computed / host_us,
            nic_efficiency=computed and computed / nic_us,
            host_compute_us=_at(efficiency, tollbar.nic_compute_us, host_us),
            nic_compute_us=_at(efficiency, tollbar.nic_compute_us, nic_us),
            host_loop_us=_at(efficiency, tollbar.nic_loop_us, host_us),
            nic_loop_us=_at(efficiency, tollbar.nic_loop_us, nic_us),
            nic_low_us=min((nic for _, nic in ends), default=None),
            nic_high_us=max((nic for _, nic in ends), default=None),
            factor_low=min((_ratio(*end) for end in ends), default=None),
            factor_high=max((_ratio(*end) for end in ends), default=None),
        )
        for efficiency in args.efficiency or (None,)
    ]


def _loop_us(
    plan: tollbar.Plan, where: str, card: tollbar.NicCard, work: Work, args: argparse.Namespace, watch: _Watch
) -> float:
    loops = args.loops or (simulate_nic_asked.DRAWN_LOOPS if work.variation else 1)
    try:
        outcome = tollbar.simulate_nic(
            plan, where, card,
            compute_us=work.compute_us, variation=work.variation, runs=loops, seed=args.seed, watch=watch,
        )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {watch.which}: {watch.told}") from None
    return outcome.last_us / loops


class _Watch:
    """Remembers how far the simulation has come."""

    def __init__(self, which: str) -> None:
        self.which = which
        self.told = "it had just begun"

    def __call__(self, simulated_us: float, passed: int, total: int) -> None:
        self.told = f"{simulated_us / 1e6:.6g} s were simulated, {passed / total:.1%} of the barriers passed"


def _ratio(host_us: float, nic_us: float) -> float:
    return host_us / nic_us if nic_us else 1.0


def _at(
    efficiency: float | None, formula: Callable[[float, float], float], barrier_us: float
) -> float | None:
    return None if efficiency is None else formula(barrier_us, efficiency)


def _terms(cards: Sequence[str], ratio: float | None) -> list[Term]:
    if ratio is None:
        found = {card: tollbar.nic_card_ranges(card) for card in cards}
    elif len(cards) == 2:
        found = {cards[0]: tollbar.nic_card_ranges(*cards, ratio)}
    else:
        raise WrongUse("--ratio is between two cards; give --card SLOWER,FASTER")
    return [
        Term(card, term, *ranges[term], identifiable=ranges[term][0] == ranges[term][1])
        for card, ranges in found.items()
        for term in ("H", "a", "b", "SDMA", "limit_factor")
    ]

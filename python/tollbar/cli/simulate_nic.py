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
from pathlib import Path

import tollbar
from tollbar.cli import arguments, nic_fitted
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.simulate_scheduler import Interrupted
from tollbar.cli.table import Table, column, describe_columns

_PARTS = ("send", "sdma", "xmit", "network", "recv", "rdma", "hrecv")
_APPLICATION_VARIATION = 0.1  # section 4.5 of the paper
_DRAWN_LOOPS = 1000


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


@dataclass(frozen=True)
class Work:
    """What the nodes do in a loop."""

    compute_us: Sequence[float] = (0.0,)
    variation: float = 0.0
    application: str | None = None

    @property
    def sum_us(self) -> float:
        return sum(self.compute_us)


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
    parser.add_argument(
        "plans", nargs="*", default=["pairwise"], metavar="PLAN", help="default: pairwise, the paper's own"
    )
    card = parser.add_argument_group("the card")
    card.add_argument(
        "--card", type=_cards, metavar="CARD[,CARD...]",
        help="lanai4.3 or lanai7.2, with the parameters in the middle of what fits (default: both)",
    )  # fmt: skip
    card.add_argument(
        "--parts", type=_parts, metavar="PART=US[,...]",
        help=f"a card of your own: {', '.join(_PARTS)} in microseconds; what is not named takes no time",
    )  # fmt: skip
    card.add_argument(
        "--without-mpi", action="store_true",
        help="take from the NIC-based barrier what MPI adds to it; the host-based one stays as it is",
    )  # fmt: skip
    card.add_argument(
        "--interval", action="store_true",
        help="add what other parameters would give that fit what is printed of the card",
    )  # fmt: skip
    card.add_argument(
        "--ranges", action="store_true", help="print what the printed latencies say of the parameters"
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
        help="each computing time is drawn from so much less to so much more, such as 0.2",
    )  # fmt: skip
    work.add_argument(
        "--loops", type=int, metavar="N",
        help=f"how many loops the mean is of (default: 1, or {_DRAWN_LOOPS} where times vary)",
    )  # fmt: skip
    work.add_argument("--seed", type=int, default=1, metavar="N", help="of varying times (default: 1)")
    work.add_argument(
        "--efficiency", type=_numbers, default=(), metavar="E[,E...]",
        help="how much must be computed between barriers for these efficiencies",
    )  # fmt: skip


def run(args: argparse.Namespace) -> Table:
    if args.card and args.parts:
        raise WrongUse("--card and --parts both say what the card is; give one of them")
    if args.parts and (args.interval or args.ranges):
        raise WrongUse("--parts leave nothing open; --interval and --ranges are for cards by name")
    if args.fit:
        if args.card or args.parts or args.ranges or args.interval or args.plans != ["pairwise"]:
            raise WrongUse("--fit finds the card for a pairwise exchange; leave out plans and other cards")
        return nic_fitted.table(args.fit)
    if args.ranges:
        return Table(_terms(args.card or tollbar.nic_cards(), args.ratio))
    if args.ratio is not None:
        raise WrongUse("--ratio is for --ranges")
    if not 0 <= args.seed < 2**64:
        raise WrongUse(f"--seed is a number from 0 to 2^64 - 1, not {args.seed}")
    if args.loops is not None and args.loops < 1:
        raise WrongUse(f"--loops is at least 1, not {args.loops}")
    work = _work(args)
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
    loops = args.loops or (_DRAWN_LOOPS if work.variation else 1)
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
        self.told = "it had hardly begun"

    def __call__(self, simulated_us: float, passed: int, total: int) -> None:
        self.told = f"{simulated_us / 1e6:.6g} s were simulated, {passed / total:.1%} of the barriers passed"


def _ratio(host_us: float, nic_us: float) -> float:
    return host_us / nic_us if nic_us else 1.0


def _at(
    efficiency: float | None, formula: Callable[[float, float], float], barrier_us: float
) -> float | None:
    return None if efficiency is None else formula(barrier_us, efficiency)


def _work(args: argparse.Namespace) -> list[Work]:
    phases = tollbar.nic_applications()
    loops = [((compute_us,), 0.0, None) for compute_us in args.compute_us]
    loops += [(phases[name], _APPLICATION_VARIATION, name) for name in args.application]
    if args.variation is not None and not loops:
        raise WrongUse("--variation is of computing times; give --compute-us or --application")
    return [
        Work(tuple(compute_us), variation, name)
        for compute_us, usual, name in loops
        for variation in args.variation or (usual,)
    ] or [Work()]


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

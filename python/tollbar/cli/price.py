# SPDX-License-Identifier: Apache-2.0
"""tollbar price: computes what each plan costs under LogP, without running it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments, price_crossovers
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import track
from tollbar.cli.table import Table, column, describe_columns

_MOST_CURVES = 8
_PICTURES = (".svg", ".png", ".pdf")
_RECEIVE = {receive.name.replace("_", "-"): receive for receive in tollbar.Receive}


@dataclass(frozen=True)
class Cost:
    plan: str = column("the plan's spelling")
    ranks: int = column("number of ranks")
    last_us: float = column("when the last rank leaves: the barrier's time, in microseconds")
    first_us: float = column("when the first rank leaves")
    mean_us: float = column("mean over the ranks")
    messages: int = column("messages of one episode")


@dataclass(frozen=True)
class ComparedCost(Cost):
    """What --closed-form and --loop add; the columns above stay as they are."""

    closed_form_us: float | None = column("--closed-form: the LogP paper's formula; empty where it has none")
    simplified_us: float | None = column("the same as the paper simplifies it, which supposes o > g")
    loop_us: float | None = column("--loop: the period of a loop of nothing but this barrier")
    loop_ratio: float | None = column("the period divided by last_us; below 1 where episodes overlap")


@dataclass(frozen=True)
class MachineCost(Cost):
    """What --machine adds."""

    contended_us: float = column(
        "--machine: last_us where additions to a word that several share wait for each other; of plans "
        "without such a word the same"
    )


@dataclass(frozen=True)
class BestCost(Cost):
    """What --best-parameter adds."""

    also: str | None = column("--best-parameter: other parameters of the same price")


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "price",
        help=__doc__.partition(": ")[2],
        description=__doc__,
        epilog=f"{describe_columns(ComparedCost)}\n\n--machine, {describe_columns(MachineCost)}\n\n"
        f"--best-parameter, {describe_columns(BestCost)}\n\n"
        f"--crossover, {describe_columns(price_crossovers.Crossover)}",
    )
    parser.add_argument(
        "plans",
        nargs="*",
        type=arguments.plan,
        default=arguments.DEFAULT_PLANS,
        metavar="PLAN",
        help="default: every algorithm of the catalogue that runs everywhere",
    )
    parser.add_argument(
        "--ranks",
        type=arguments.rank_counts,
        required=True,
        metavar="P[,P...]",
        help="numbers of ranks; A..B stands for every size between",
    )
    parser.add_argument(
        "--logp",
        type=arguments.logp,
        default=tollbar.LogP(L=10, o=5, g=3),
        metavar="L,o,g",
        help="latency, overhead, gap in microseconds (default: 10,5,3); L,o_s,o_r,g: a sender's and a "
        "receiver's overhead apart; or what `tollbar logp measure` "
        "stored last of a transport: threads, mpi, mpi:words, mpi:mpich",
    )
    parser.add_argument(
        "--machine", metavar="NAME|FILE",
        help="in place of --logp: what cache lines cost between the first P cores of a machine of `tollbar "
        "simulate cores`, and a term for a word to which many add at once",
    )  # fmt: skip
    parser.add_argument(
        "--hot",
        type=arguments.microseconds,
        metavar="US",
        help="what each further message costs a rank that has several, in place of max(o,g); "
        "the longest path keeps o_s+L+o_r a message",
    )
    parser.add_argument(
        "--payload",
        type=_payload,
        metavar="BYTES:G",
        help="LogGP: every message carries so many bytes, and each after the first takes G microseconds",
    )
    parser.add_argument(
        "--receive",
        choices=tuple(_RECEIVE),
        default="at-await",
        help="when a message takes the receiver's time: when its await set is reached (default), "
        "await by await in the listed order, or as soon as it is there",
    )
    parser.add_argument(
        "--late",
        type=arguments.late_rank,
        action="append",
        default=[],
        metavar="RANK:US",
        help="a rank that enters that many microseconds after the others; may be repeated",
    )
    parser.add_argument(
        "--closed-form",
        action="store_true",
        help="adds the formulas of the LogP paper (Hoefler et al.), for the plans that have one",
    )
    parser.add_argument(
        "--loop",
        action="store_true",
        help="adds what a loop of nothing but barriers takes for each of them, as benchmarks measure",
    )
    parser.add_argument(
        "--best-parameter",
        action="store_true",
        help="for plans such as combining:N that have one number for a parameter: the cheapest for each size "
        "(without a PLAN: all such plans)",
    )
    parser.add_argument(
        "--crossover",
        action="store_true",
        help="for one range of sizes, --ranks A..B: which plan is the cheapest from which number of ranks on "
        "(without a PLAN: those without roles)",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="with --best-parameter and one PLAN: also draw the price over the parameter (svg, png or pdf); "
        "with --crossover: the price of every PLAN over the number of ranks",
    )
    parser.set_defaults(run=run)


def _payload(text: str) -> tuple[int, float]:
    size, _, per_byte = text.partition(":")
    if not (size.isascii() and size.isdigit() and int(size) < 2**40 and per_byte):
        raise argparse.ArgumentTypeError(f"'{text}' is not BYTES:G, such as 120:0.08")
    return int(size), arguments.microseconds(per_byte)


def run(args: argparse.Namespace) -> Table:
    late = dict(args.late)
    if args.machine:
        return _on_machine(args, late)
    if args.hot is not None:
        args.logp = tollbar.with_occupancy(args.logp, args.hot)
    if args.payload:
        args.logp = tollbar.with_payload(args.logp, args.payload[1], args.payload[0])
    if args.plot and args.plot.suffix not in _PICTURES:
        raise WrongUse(f"--plot {args.plot}: the name must end in {', '.join(_PICTURES)}")
    if args.best_parameter or args.crossover:
        option = "--crossover" if args.crossover else "--best-parameter"
        if late or args.closed_form or args.loop:
            raise WrongUse(f"{option} excludes --late, --closed-form and --loop")
        if args.best_parameter and args.crossover:
            raise WrongUse("--crossover and --best-parameter exclude each other")
        if args.crossover:
            return price_crossovers.table(args, _RECEIVE[args.receive])
        return _best(args)
    if args.plot:
        raise WrongUse("--plot draws what --best-parameter or --crossover finds; give one of them")
    if len(late) < len(args.late):
        raise WrongUse("--late names a rank twice; give each late rank once")
    if late and (args.closed_form or args.loop):
        raise WrongUse("--closed-form and --loop suppose that all ranks enter together; leave out --late")
    cases = [(spelling, ranks) for ranks in arguments.each(args.ranks) for spelling in args.plans]
    rows = [_cost(spelling, ranks, args, late) for spelling, ranks in track(cases, "pricing")]
    return Table(sorted(rows, key=lambda row: (row.ranks, row.last_us)))


def _on_machine(args: argparse.Namespace, late: dict[int, float]) -> Table:
    from tollbar.models import cores

    other = ("hot", "payload", "closed_form", "loop", "best_parameter", "crossover", "plot")
    for name in other:
        if getattr(args, name):
            raise WrongUse(f"--machine excludes --{name.replace('_', '-')}")
    receive, rows = _RECEIVE[args.receive], []
    try:
        machine = cores.machine(args.machine)
        for ranks in arguments.each(args.ranks):
            for spelling in args.plans:
                plan = tollbar.plan(spelling, ranks)
                price, contended = (
                    tollbar.price(plan, cores.logp(machine, ranks, adding), receive, late)
                    for adding in (0, cores.sharers(plan))
                )
                alone = (price.last_us, price.first_us, price.mean_us, price.messages)
                rows.append(MachineCost(spelling, ranks, *alone, contended_us=contended.last_us))
    except ValueError as error:
        raise WrongUse(f"--machine: {error}") from None
    note = "computed, not measured: levels may be off by a factor of 2 (docs/design/cores.md)"
    return Table(sorted(rows, key=lambda row: (row.ranks, row.contended_us)), notes=[note])


def _best(args: argparse.Namespace) -> Table:
    from tollbar.models import logp_best

    there = logp_best.algorithms()
    names = list(there) if args.plans == arguments.DEFAULT_PLANS else args.plans
    for name in names:
        if name not in there:
            raise WrongUse(f"--best-parameter: '{name}' is not one of {', '.join(there)}")
    sizes = list(arguments.each(args.ranks))
    if args.plot:
        _draw(names, sizes, args)
    rows = []
    for name, ranks in track([(name, ranks) for ranks in sizes for name in names], "pricing"):
        cheapest, *ties = logp_best.best(logp_best.curve(name, ranks, args.logp, _RECEIVE[args.receive]))
        price = cheapest.price
        also = ",".join(str(each.parameter) for each in ties) or None
        rows.append(
            BestCost(
                f"{name}:{cheapest.parameter}", ranks,
                price.last_us, price.first_us, price.mean_us, price.messages, also,
            )
        )  # fmt: skip
    notes = [f"the picture is {args.plot}"] if args.plot else []
    return Table(sorted(rows, key=lambda row: (row.ranks, row.last_us)), notes=notes)


def _draw(names: Sequence[str], sizes: Sequence[int], args: argparse.Namespace) -> None:
    from tollbar.models import logp_best

    if len(names) != 1 or len(sizes) > _MOST_CURVES:
        raise WrongUse(f"--plot draws one PLAN for at most {_MOST_CURVES} sizes")
    logp_best.figure(names[0], sizes, args.logp, _RECEIVE[args.receive]).savefig(args.plot)


def _cost(spelling: str, ranks: int, args: argparse.Namespace, late: dict[int, float]) -> Cost:
    plan, receive = tollbar.plan(spelling, ranks), _RECEIVE[args.receive]
    price = tollbar.price(plan, args.logp, receive, late)
    alone = (spelling, ranks, price.last_us, price.first_us, price.mean_us, price.messages)
    if not args.closed_form and not args.loop:
        return Cost(*alone)
    form = tollbar.closed_form(plan, args.logp) if args.closed_form else None
    loop_us = tollbar.loop_period_us(plan, args.logp, receive) if args.loop else None
    return ComparedCost(
        *alone,
        closed_form_us=form.full_us if form else None,
        simplified_us=form.simplified_us if form else None,
        loop_us=loop_us,
        loop_ratio=loop_us / price.last_us if loop_us is not None and price.last_us else None,
    )

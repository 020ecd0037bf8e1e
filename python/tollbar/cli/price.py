# SPDX-License-Identifier: Apache-2.0
"""tollbar price: computes what each plan costs under LogP, without running it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tollbar
from tollbar import LogP
from tollbar.cli import arguments, laboratory
from tollbar.cli.errors import Interrupted, WrongUse
from tollbar.cli.progress import Progress, track
from tollbar.cli.table import Table, column, describe_columns, verb

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
class MachineCost(Cost):
    """The share that a machine adds."""

    contended_us: float = column("last_us with contention on a word to which several add")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = verb(commands, "price", __doc__, _columns)
    parser.add_argument(
        "plans",
        nargs="*",
        type=arguments.plan_or_file,
        metavar="PLAN|FILE",
        help="a plan, or a file with the words of one (default: all that run everywhere)",
    )
    arguments.add_ranks(parser, "how many; A..B stands for every size between")
    parser.add_argument(
        "--logp",
        type=_costs,
        default=tollbar.LogP(L=10, o=5, g=3),
        metavar="COSTS",
        help="L,o,g or L,o_s,o_r,g in us (default: 10,5,3); what `tollbar logp measure` stored: mpi, "
        "mpi:words; or a machine of `tollbar simulate cores`",
    )
    parser.add_argument(
        "--receive",
        choices=tuple(_RECEIVE),
        default="at-await",
        help="when a message takes its receiver time: at its await set (default), await by await, or at once",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--late",
        type=arguments.late_rank,
        action="append",
        default=[],
        metavar="RANK:US",
        help="a rank that enters later than the others; may be repeated",
    )
    how.add_argument(
        "--crossover",
        action="store_true",
        help="for --ranks A..B: which plan is the cheapest from which size on (default: plans without roles)",
    )
    parser.set_defaults(run=run)


def _columns() -> str:
    from tollbar.cli import crossovers

    return f"on a machine, {describe_columns(MachineCost)}\n\n--crossover, {describe_columns(crossovers.Stretch)}"


def _costs(text: str) -> Any:
    """LogP parameters, a transport whose newest measurement is taken, or a machine and its caches."""
    if "," not in text and text.partition(":")[0] not in arguments.MEASURED:
        try:
            return laboratory.part("price.machine").machine(text)
        except laboratory.Missing as error:
            stored = ", ".join(arguments.MEASURED)
            raise argparse.ArgumentTypeError(
                f"'{text}' is neither L,o,g nor one of {stored}; as a machine {error}"
            ) from None
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{error}, and {', '.join(arguments.MEASURED)}") from None
    return arguments.logp(text)


def run(args: argparse.Namespace) -> Table:
    if len(dict(args.late)) < len(args.late):
        raise WrongUse("--late names a rank twice; give each late rank once")
    named = list(dict.fromkeys(args.plans or arguments.DEFAULT_PLANS))
    read = {str(path): arguments.read_plan(path) for path in named if isinstance(path, Path)}
    spellings = [plan for plan in named if isinstance(plan, str)]
    if spellings and not args.ranks:
        raise WrongUse("the following arguments are required: --ranks")
    if args.ranks and not spellings:
        raise WrongUse(f"{arguments.OWN_RANKS}; leave out --ranks or name a PLAN")
    if args.crossover:
        if read:
            raise WrongUse("--crossover compares many sizes, and a FILE has one; name a PLAN")
        return _crossovers(args)
    cases = [(spelling, ranks) for ranks in arguments.sizes(args.ranks or []) for spelling in spellings]
    cases += [(path, plan.ranks) for path, plan in read.items()]
    rows = [_cost(name, read.get(name) or tollbar.plan(name, ranks), args) for name, ranks in track(cases, "pricing")]
    rows.sort(key=lambda row: (row.ranks, _us(row)))
    on_machine = not isinstance(args.logp, LogP)
    return Table(rows, notes=["computed, not measured: levels may be off by a factor of 2"] if on_machine else [])


def _us(row: Cost) -> float:
    return row.contended_us if isinstance(row, MachineCost) else row.last_us


def _cost(name: str, plan: tollbar.Plan, args: argparse.Namespace) -> Cost:
    ranks, receive, late = plan.ranks, _RECEIVE[args.receive], dict(args.late)

    def price(logp: LogP) -> tollbar.Price:
        return tollbar.price(plan, logp, receive, late)

    if isinstance(args.logp, LogP):
        alone = price(args.logp)
        return Cost(name, ranks, alone.last_us, alone.first_us, alone.mean_us, alone.messages)
    cores = laboratory.part("price.machine")
    alone, contended = (price(cores.logp(args.logp, ranks, adding)) for adding in (0, cores.sharers(plan)))
    return MachineCost(name, ranks, alone.last_us, alone.first_us, alone.mean_us, alone.messages, contended.last_us)


def _crossovers(args: argparse.Namespace) -> Table:
    from tollbar.cli import crossovers

    if not isinstance(args.logp, LogP):
        raise WrongUse("--crossover compares under L,o,g; a machine has other ones for each number of ranks")
    if len(args.ranks) != 1 or len(args.ranks[0]) < 2:
        raise WrongUse("--crossover looks for changes over one range of sizes: --ranks A..B, such as 2..1000000")
    at = crossovers.sizes(args.ranks[0][0], args.ranks[0][-1])
    plans = list(dict.fromkeys(args.plans or arguments.MESSAGE_PLANS))
    receive, reached = _RECEIVE[args.receive], at[0]

    def note(ranks: int) -> None:
        nonlocal reached
        reached = ranks
        progress.advance(ranks)

    try:
        with Progress("pricing", total=len(plans) * sum(at)) as progress:
            curves = crossovers.curves(plans, at, args.logp, receive, note)
        stretches = crossovers.stretches(curves, args.logp, receive)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: plans were priced up to {reached} ranks") from None
    return Table(stretches, notes=[crossovers.sentence(stretches)])

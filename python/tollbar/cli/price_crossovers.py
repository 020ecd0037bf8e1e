# SPDX-License-Identifier: Apache-2.0
"""`tollbar price --crossover`: which plan is the cheapest from which number of ranks on, and a plot."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.simulate_scheduler import Interrupted
from tollbar.cli.table import Table, column

if TYPE_CHECKING:  # slow to load, and no other command needs it
    from tollbar.models.crossovers import Curves, Stretch


@dataclass(frozen=True)
class Crossover:
    """One plan, and between which numbers of ranks it is the cheapest."""

    ranks_from: int = column("the least number of ranks")
    ranks_to: int = column("the greatest")
    plan: str = column("the cheapest plan between; of equal ones that with the fewest messages")
    also: str | None = column("plans that cost the same wherever they were priced")
    priced_at: int = column("a number of ranks, the greatest in between at which all plans were priced")
    last_us: float = column("the plan's price there: when the last rank leaves")
    runner_up: str | None = column("the cheapest other plan there")
    ratio: float | None = column("its price over the plan's")


def table(args: argparse.Namespace, receive: tollbar.Receive) -> Table:
    from tollbar.models import crossovers

    if len(args.ranks) != 1 or len(args.ranks[0]) < 2:
        raise WrongUse(
            "--crossover looks for changes over one range of sizes: --ranks A..B, such as 2..1000000"
        )
    at = crossovers.sizes(args.ranks[0][0], args.ranks[0][-1])
    asked = arguments.MESSAGE_PLANS if args.plans == arguments.DEFAULT_PLANS else args.plans
    plans = list(dict.fromkeys(asked))
    reached = at[0]

    def note(ranks: int) -> None:
        nonlocal reached
        reached = ranks
        progress.advance(ranks)

    try:
        with Progress("pricing", total=len(plans) * sum(at)) as progress:
            curves = crossovers.curves(plans, at, args.logp, receive, note)
        found = crossovers.stretches(curves, args.logp, receive)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: plans were priced up to {reached} ranks") from None
    notes = [crossovers.sentence(found)]
    if args.plot:
        crossovers.figure(curves, args.logp).savefig(args.plot)
        notes.append(f"the picture is {args.plot}")
    return Table([_row(each, curves) for each in found], notes=notes)


def _row(each: Stretch, curves: Curves) -> Crossover:
    return Crossover(
        ranks_from=each.first,
        ranks_to=each.last,
        plan=each.plan,
        also=",".join(each.also) or None,
        priced_at=each.priced_at,
        last_us=curves[each.plan][each.priced_at].last_us,
        runner_up=each.runner_up,
        ratio=each.ratio,
    )

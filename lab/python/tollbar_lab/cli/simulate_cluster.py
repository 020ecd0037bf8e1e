# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate cluster: runs the real MPI transport on a network that SimGrid simulates.

Each row is one episode, which all ranks enter at once, beside its price under LogP with awaits in the plan's
order. Without --platform the network is LogP's own and the two agree; with it the difference is what the
network's shape does, which the price knows only as a mean latency.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import Interrupted, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, verb
from tollbar.machine import paths

from tollbar_lab.models import cluster

_MOST_RANKS = 1 << 14


@dataclass(frozen=True)
class Run:
    """One plan between so many ranks."""

    plan: str = column("the plan's spelling")
    ranks: int = column("number of ranks, each on its own host")
    latency_us: float | None = column("--platform: mean latency of its routes, which is the price's L")
    simulated_us: float = column("when the last rank leaves, as simulated")
    price_us: float = column("the same, as priced")
    difference_us: float = column("simulated less priced")
    difference_pct: float | None = column("the same in percent of the price")
    first_us: float = column("when the first rank leaves, as simulated", detail=True)
    price_first_us: float = column("the same, as priced", detail=True)
    mean_us: float = column("mean over the ranks, as simulated", detail=True)
    price_mean_us: float = column("the same, as priced", detail=True)
    messages: int = column("messages of one episode", detail=True)
    cpu_s: float = column("CPU time that simulating the plan took on this machine", detail=True)
    memory_mb: float = column("peak memory of the simulation so far", detail=True)


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = verb(kinds, "cluster", __doc__, Run)
    arguments.add_plans(parser, arguments.MESSAGE_PLANS, "every algorithm of the catalogue without roles")
    ranks = f"numbers of ranks, at most {_MOST_RANKS}; A..B stands for every size between"
    arguments.add_ranks(parser, ranks, required=True)
    parser.add_argument(
        "--logp",
        type=arguments.logp,
        default=tollbar.LogP(L=10, o=5, g=3),
        metavar="L,o,g",
        help="latency, overhead, gap in microseconds (default: 10,5,3)",
    )
    parser.add_argument(
        "--platform",
        metavar="FILE",
        help="a platform file of SimGrid's, or the name of one that comes with tollbar: "
        f"{', '.join(cluster.example_platforms())}; the latency is the platform's, o and g those of --logp",
    )


def run(args: argparse.Namespace) -> Table:
    sizes = arguments.sizes(args.ranks)
    if max(sizes) > _MOST_RANKS:
        most = f"up to {_MOST_RANKS} ranks are simulated, not {max(sizes)}"
        raise WrongUse(f"{most}; `tollbar price` goes further")
    for spelling in args.plans:
        tollbar.plan(spelling, min(sizes))  # refused before anything is simulated
        if needed := tollbar.runs_on(spelling):
            raise WrongUse(f"'{spelling}' is for {needed}; the simulated hosts send messages")
    try:
        paths.program(cluster.PROGRAM)
    except FileNotFoundError:
        raise WrongUse(
            "clusters are simulated by SimGrid: install libsimgrid-dev and build again, "
            "`tollbar doctor` has the command"
        ) from None
    with Progress("simulating", total=len(args.plans) * sum(sizes)) as progress:
        return Table(
            [
                row
                for number, ranks in enumerate(sizes)
                for row in _rows(ranks, args, progress, f"run {number + 1} of {len(sizes)}")
            ]
        )


def _rows(ranks: int, args: argparse.Namespace, progress: Progress, which: str) -> list[Run]:
    watch = _Watch(args.plans, ranks, progress)
    file = cluster.platform_file(args.platform) if args.platform else None
    try:
        simulated = cluster.simulate(args.plans, ranks, args.logp, file, watch)
    except cluster.Refused as error:
        raise WrongUse(f"{file}: {error}" if file else str(error)) from None
    except FileNotFoundError:
        examples = ", ".join(cluster.example_platforms())
        raise WrongUse(f"there is no file {file}; platforms that come with tollbar: {examples}") from None
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {which}, {ranks} ranks: {watch.progress}") from None
    watch.through()
    logp = args.logp
    if file:
        logp = tollbar.LogP(L=simulated.latency_us, o=logp.o_s, g=logp.g, o_r=logp.o_r)
    rows = [_row(episode, ranks, logp, bool(file)) for episode in simulated.episodes]
    return sorted(rows, key=lambda row: row.simulated_us)


def _row(episode: cluster.Episode, ranks: int, logp: tollbar.LogP, on_platform: bool) -> Run:
    price = tollbar.price(tollbar.plan(episode.plan, ranks), logp, tollbar.Receive.plan_order)
    difference_us = episode.last_us - price.last_us
    return Run(
        plan=episode.plan,
        ranks=ranks,
        latency_us=logp.L if on_platform else None,
        simulated_us=episode.last_us,
        price_us=price.last_us,
        difference_us=difference_us,
        difference_pct=100 * difference_us / price.last_us if price.last_us else None,
        first_us=episode.first_us,
        price_first_us=price.first_us,
        mean_us=episode.mean_us,
        price_mean_us=price.mean_us,
        messages=price.messages,
        cpu_s=episode.cpu_s,
        memory_mb=episode.memory_mb,
    )


class _Watch:
    """Remembers how far a simulation has come, and shows it."""

    def __init__(self, plans: list[str], ranks: int, progress: Progress) -> None:
        self.progress = "it had just begun"
        self._plans = plans
        self._ranks = ranks
        self._progress = progress
        self._done = 0.0

    def __call__(self, plan: str, share: float) -> None:
        number = self._plans.index(plan)
        self.progress = f"{number} of {len(self._plans)} plans were simulated, {share:.0%} of {plan}"
        self._advance(number + share)

    def through(self) -> None:
        self._advance(len(self._plans))

    def _advance(self, done: float) -> None:
        self._progress.advance((done - self._done) * self._ranks)
        self._done = done

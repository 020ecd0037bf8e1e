# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate cores: barriers on up to 256 cores that are not here, on simulated caches.

The library's own code runs on a model of the caches; barriers of others only poll. Levels are uncertain by a
factor of 2, the order of barriers less.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from dataclasses import dataclass

from tollbar.cli import arguments
from tollbar.cli.errors import Interrupted, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, verb

import tollbar_lab

PLACEMENTS = ("compact", "spread", "shuffled")
_SIZES = [range(size, size + 1) for size in (2, 4, 8, 16, 32, 64, 128)]
_EPISODES = 40  # that count, after 8 that do not
_SEED = 1
_KNOWN = ("tollbar::barrier", "one-word", "auto", *tollbar_lab.cores_peers, *tollbar_lab.cores_published)


@dataclass(frozen=True)
class Simulated:
    """One barrier of one number of threads, each on a core of its own."""

    barrier: str = column("a plan, auto, tollbar::barrier, one-word, or what others have today")
    cores: int = column("threads, each on a core of its own")
    barrier_us: float = column("an episode; with --spread from the last entry to the last exit, in the mean")
    times_fastest: float = column("over the fastest of the same table, cores, placement and spread")
    misses: float = column("cache misses an episode, of all threads")
    machine: str = column("whose caches they are", detail=True)
    placement: str = column("which cores the threads have")
    spread_us: float = column("each thread enters up to so much after it left")
    episodes: int = column("that count", detail=True)
    seed: int = column("of the times of entry", detail=True)


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = verb(kinds, "cores", __doc__, Simulated)
    parser.add_argument(
        "barriers",
        nargs="*",
        type=arguments.plan_of(_KNOWN),
        metavar="PLAN",
        help="or auto (what pinned threads run), tollbar::barrier, one-word, or others' such as libgomp",
    )
    arguments.add_ranks(parser, "threads, each on its own core (default: 2 to 128)", default=_SIZES)
    parser.add_argument(
        "--machine",
        default="epyc",
        metavar="NAME|FILE",
        help=f"{', '.join(tollbar_lab.cores_machines)}, or a measured one (default: epyc)",
    )
    parser.add_argument(
        "--placement",
        type=arguments.listed(arguments.one_of(PLACEMENTS)),
        default=PLACEMENTS[:1],
        metavar="HOW,...",
        help="compact (default), spread: clusters take turns, or shuffled",
    )
    parser.add_argument(
        "--spread",
        type=arguments.listed(arguments.microseconds),
        default=(0.0,),
        metavar="US,...",
        help="threads enter up to so much after they left (default: 0)",
    )


def run(args: argparse.Namespace) -> Table:
    from tollbar_lab.models import cores

    try:
        machine = cores.machine(args.machine)
    except ValueError as error:
        raise WrongUse(error) from None
    sizes = list(arguments.sizes(args.ranks))
    if args.ranks is _SIZES:
        sizes = [size for size in sizes if size <= len(machine.cores)]
    barriers = list(dict.fromkeys(args.barriers or cores.CANDIDATES))
    cases = list(itertools.product(args.placement, args.spread, sizes, barriers))
    rows: list[Simulated] = []
    with Progress("simulating", total=sum(size for _, _, size, _ in cases)) as progress:
        for placement, spread_us, size, barrier in cases:
            rows.append(_simulated(barrier, size, machine, placement, spread_us, f"{len(rows)} of {len(cases)}"))
            progress.advance(size)
    return Table(_compared(rows), notes=["simulated, not measured: levels may be off by a factor of 2"])


def _simulated(
    barrier: str, size: int, machine: tollbar_lab.CoresMachine, placement: str, spread_us: float, done: str
) -> Simulated:
    try:
        outcome = tollbar_lab.simulate_cores(
            barrier, size, machine=machine, placement=placement, episodes=_EPISODES, spread_us=spread_us, seed=_SEED
        )
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: {done} rows were simulated") from None
    return Simulated(
        barrier, size, outcome.barrier_us, 1.0, outcome.misses, machine.name, placement, spread_us, _EPISODES, _SEED
    )


def _compared(rows: list[Simulated]) -> list[Simulated]:
    def place(row: Simulated) -> tuple[str, float, int]:
        return row.placement, row.spread_us, row.cores

    fastest: dict[tuple[str, float, int], float] = {}
    for row in rows:
        fastest[place(row)] = min(row.barrier_us, fastest.get(place(row), row.barrier_us))
    return [dataclasses.replace(row, times_fastest=row.barrier_us / fastest[place(row)]) for row in rows]

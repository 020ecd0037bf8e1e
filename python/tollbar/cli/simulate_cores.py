# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate cores: barriers on up to 256 cores that are not here, on simulated caches.

The project's own templates run on a model of the caches, and so does what the barriers of others do to
memory, if they only poll. Levels are uncertain by a factor of 2, the order of barriers less:
docs/design/cores.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments
from tollbar.cli.errors import WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.simulate_scheduler import Interrupted
from tollbar.cli.table import Table, column, describe_columns

PLACEMENTS = ("compact", "spread", "shuffled")
_SIZES = "2,4,8,16,32,64,128"
_OWN = ("tollbar::barrier", "one-word", "auto")


@dataclass(frozen=True)
class Simulated:
    """One barrier of one number of threads, each on a core of its own."""

    barrier: str = column("a plan, auto, tollbar::barrier, one-word, or what others have today")
    cores: int = column("threads, each on a core of its own")
    barrier_us: float = column(
        "an episode; with --spread-us from the last entry to the last exit, in the mean"
    )
    times_fastest: float = column("over the fastest of the same table, cores, placement and spread")
    misses: float = column("cache misses an episode, of all threads")
    machine: str = column("whose caches they are", detail=True)
    placement: str = column("which cores the threads have")
    spread_us: float = column("each thread enters up to so much after it left")
    episodes: int = column("that count", detail=True)
    seed: int = column("of the times of entry", detail=True)


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "cores",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__,
        epilog=describe_columns(Simulated),
    )
    parser.add_argument(
        "barriers", nargs="*", type=_barrier, metavar="PLAN",
        help="plans; auto, which a group of pinned threads runs where nothing is tuned and it may use just "
        "these cores; tollbar::barrier; one-word, which that is for few threads; combination/PLAN with PLAN "
        "between the clusters; std::barrier and libgomp as if they polled for ever; ck_centralized and the "
        "other barriers of Concurrency Kit (default: some plans, and all of the others); sense_reversing, "
        "mcs_flags:one_line and others of the paper on OpenMP, as docs/results/openmp-mpi.md has them",
    )  # fmt: skip
    parser.add_argument(
        "--cores", type=arguments.rank_counts, default=arguments.rank_counts(_SIZES), metavar="N[,N...]",
        help=f"how many; A..B stands for every number between (default: {_SIZES})",
    )  # fmt: skip
    parser.add_argument(
        "--machine", default="epyc", metavar="NAME|FILE",
        help="epyc (clusters of 8 cores with a cache each, two sockets of 64), mesh (one cache a socket), "
        "graviton2, icelake, skylake (16 cores), or a file that `tollbar logp measure cores` wrote "
        "(default: epyc)",
    )  # fmt: skip
    parser.add_argument(
        "--topology", metavar="XML|LEVELS",
        help="where the cores lie instead, by hwloc: a file of `lstopo --of xml`, or levels such as "
        "'pack:2 l3:4 core:6'",
    )  # fmt: skip
    parser.add_argument(
        "--placement", type=_placements, default=("compact",), metavar="HOW[,HOW...]",
        help="compact: thread i on core i; spread: clusters take turns; shuffled: ranks know nothing of "
        "clusters (default: compact)",
    )  # fmt: skip
    parser.add_argument(
        "--spread-us", type=_times, default=(0.0,), metavar="US[,US...]",
        help="each thread enters up to so much after it left the last episode (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--episodes", type=int, default=40, metavar="N", help="that count, after 8 that do not (default: 40)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the times of entry (default: 1)")
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="write the times over the cores as svg, png or pdf"
    )


def _barrier(text: str) -> str:
    known = (*_OWN, *tollbar.cores_peers, *tollbar.cores_published)
    return arguments.plan(text, known)


def _placements(text: str) -> tuple[str, ...]:
    for name in (found := arguments.names(text)):
        if name not in PLACEMENTS:
            raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(PLACEMENTS)}")
    return found


def _times(text: str) -> tuple[float, ...]:
    return tuple(arguments.microseconds(part) for part in text.split(","))


def run(args: argparse.Namespace) -> Table:
    from tollbar.machine import topology
    from tollbar.models import cores

    if not 0 <= args.seed < 2**64:
        raise WrongUse(f"--seed is a number from 0 to 2^64 - 1, not {args.seed}")
    if args.picture and args.picture.suffix not in (".svg", ".png", ".pdf"):
        raise WrongUse(f"--picture writes svg, png or pdf, not '{args.picture.name}'")
    if args.picture and len(args.placement) * len(args.spread_us) > 1:
        raise WrongUse("--picture shows one placement and one spread")
    try:
        machine = cores.machine(args.machine)
        if args.topology:
            machine = cores.with_cores(machine, topology.cores(args.topology))
    except ValueError as error:
        raise WrongUse(error) from None
    sizes = list(arguments.each(args.cores))
    if args.cores == arguments.rank_counts(_SIZES):
        sizes = [size for size in sizes if size <= len(machine.cores)]
    barriers = list(dict.fromkeys(args.barriers or cores.CANDIDATES))
    cases = list(itertools.product(args.placement, args.spread_us, sizes, barriers))
    rows: list[Simulated] = []
    with Progress("simulating", total=sum(size for _, _, size, _ in cases)) as progress:
        for placement, spread_us, size, barrier in cases:
            rows.append(
                _simulated(barrier, size, machine, placement, spread_us, args, f"{len(rows)} of {len(cases)}")
            )
            progress.advance(size)
    notes = ["simulated, not measured: levels may be off by a factor of 2 (docs/design/cores.md)"]
    if args.picture:
        curves: dict[str, dict[int, float]] = {}
        for row in rows:
            curves.setdefault(row.barrier, {})[row.cores] = row.barrier_us
        cores.figure(curves, f"{machine.name}, {args.placement[0]}").savefig(args.picture)
        notes.append(f"the picture is {args.picture}")
    return Table(_compared(rows), notes=notes)


def _simulated(
    barrier: str, size: int, machine: tollbar.CoresMachine, placement: str, spread_us: float,
    args: argparse.Namespace, done: str,
) -> Simulated:  # fmt: skip
    try:
        outcome = tollbar.simulate_cores(
            barrier, size,
            machine=machine, placement=placement, episodes=args.episodes, spread_us=spread_us, seed=args.seed,
        )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted: {done} rows were simulated") from None
    return Simulated(
        barrier, size, outcome.barrier_us, 1.0, outcome.misses, machine.name, placement, spread_us,
        args.episodes, args.seed,
    )  # fmt: skip


def _compared(rows: list[Simulated]) -> list[Simulated]:
    def place(row: Simulated) -> tuple[str, float, int]:
        return row.placement, row.spread_us, row.cores

    fastest: dict[tuple[str, float, int], float] = {}
    for row in rows:
        fastest[place(row)] = min(row.barrier_us, fastest.get(place(row), row.barrier_us))
    return [dataclasses.replace(row, times_fastest=row.barrier_us / fastest[place(row)]) for row in rows]

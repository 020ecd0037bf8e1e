# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate scheduler: barriers where threads outnumber processors, after Markatos et al. 1991.

One application unless --application says more; each combination of barrier, waiting, processors and computing
time is a run of its own.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments, crowds
from tollbar.cli.errors import CommandError, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, describe_columns

POLICIES = ("partition", "coscheduled", "global", "dedicated")
_PICTURE_BARRIERS = 6  # so many are in a picture unless its window is given


@dataclass(frozen=True)
class Crowd:
    """One application of one run."""

    application: int | None = column("its number, where there are several")
    barrier: str = column("centralized, tree, combination, or a plan")
    waiting: str = column("spin, smart (yields when another local thread can go on) or naive (yields always)")
    policy: str = column("how applications share the machine", detail=True)
    placement: str = column("cyclic, block or given", detail=True)
    threads: int = column("of this application")
    processors: int = column("of the machine")
    compute_us: float | None = column("computing time between two barriers; empty where it was recorded")
    barriers: int = column("episodes", detail=True)
    arrival_us: float = column("when it started", detail=True)
    completed_us: float = column("when it finished")
    per_barrier_us: float = column("elapsed time a barrier, computing and --barrier-us included")
    overhead_pct: float | None = column(
        "extra time over computing on its most loaded processor; empty when nothing is computed"
    )
    switches_per_barrier: float = column("context switches a barrier and processor, of all applications")
    utilisation: float = column("share of the processors' time spent computing")
    spinning: float = column("share spent spinning", detail=True)
    switching: float = column("share spent switching", detail=True)
    idle: float = column("share spent idle", detail=True)
    quanta: int = column("quanta that ended", detail=True)


@dataclass(frozen=True)
class Run:
    """One machine with its applications."""

    applications: list[crowds.Described]
    processors: int


class Interrupted(CommandError):
    exit_code = 130


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "scheduler",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__,
        epilog=describe_columns(Crowd),
    )
    machine = parser.add_argument_group("the machine")
    machine.add_argument(
        "--processors", type=crowds.processors, default=[range(8, 9)], metavar="P[,P...]",
        help="how many, at most one a thread; A..B stands for every number between (default: 8)",
    )  # fmt: skip
    machine.add_argument(
        "--quantum-us", type=float, default=20000.0, metavar="US", help="length of a quantum (default: 20000)"
    )
    machine.add_argument(
        "--switch-us", type=float, default=100.0, metavar="US",
        help="processor time of a context switch (default: 100; the paper's spinning barriers have 0)",
    )  # fmt: skip
    machine.add_argument(
        "--policy", choices=POLICIES, default="partition",
        help="partition: each application has processors of its own (default); coscheduled: turns of a "
        "quantum on the whole machine; global: one queue for all threads; "
        "dedicated: one application after the other",
    )  # fmt: skip
    crowds.add_arguments(parser)
    parser.add_argument(
        "--barrier-us", type=float, default=0.0, metavar="US",
        help="what a barrier costs by itself, added to the simulated time (the paper's figures 4 and 5 need "
        "0.625 of a switch; default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of varying times and shuffled orders (default: 1)"
    )
    parser.add_argument(
        "--picture", type=Path, metavar="FILE", help="write what each processor did as an SVG, of one run"
    )
    parser.add_argument(
        "--window-us", type=crowds.window, metavar="FROM..UNTIL",
        help=f"the time that the picture shows (default: about {_PICTURE_BARRIERS} barriers)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> Table:
    if not 0 <= args.barrier_us < float("inf"):
        raise WrongUse(f"--barrier-us is a time of at least 0, not {args.barrier_us}")
    if not 0 <= args.seed < 2**64:
        raise WrongUse(f"--seed is a number from 0 to 2^64 - 1, not {args.seed}")
    runs = [
        Run(applications, processors)
        for applications, processors in itertools.product(
            crowds.described(args), arguments.each(args.processors)
        )
    ]
    if args.picture and len(runs) > 1:
        raise WrongUse(f"--picture shows one run, these are {len(runs)}; give one value for each option")
    rows = []
    with Progress("simulating", total=len(runs)) as progress:
        for done, each in enumerate(runs):
            rows += _rows(each, _simulate(each, args, progress, f"run {done + 1} of {len(runs)}"), args)
    if args.picture:
        _draw(runs[0], args, rows)
    return Table(rows, notes=[f"the picture is {args.picture}"] if args.picture else [])


def _simulate(
    run: Run, args: argparse.Namespace, progress: Progress, which: str, **window: float
) -> tollbar.SchedulerOutcome:
    told = "it had just begun"
    share = 0.0

    def watch(simulated_us: float, passed: int, total: int) -> None:
        nonlocal told, share
        told = f"{simulated_us / 1e6:.6g} s were simulated, {passed / total:.1%} of the barriers passed"
        progress.advance(passed / total - share)
        share = passed / total

    try:
        outcome = tollbar.simulate_scheduler(
            [each.application for each in run.applications],
            processors=run.processors, quantum_us=args.quantum_us, switch_us=args.switch_us,
            policy=args.policy, seed=args.seed, watch=watch, **window,
        )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {which}: {told}") from None
    progress.advance(1 - share)
    return outcome


def _rows(run: Run, outcome: tollbar.SchedulerOutcome, args: argparse.Namespace) -> list[Crowd]:
    barriers = sum(each.barriers for each in outcome.applications)
    everything = run.processors * outcome.completed_us or 1.0
    return [
        Crowd(
            application=number if len(run.applications) > 1 else None,
            barrier=described.barrier,
            waiting=described.waiting,
            policy=args.policy,
            placement=described.placement,
            threads=described.threads,
            processors=run.processors,
            compute_us=described.compute_us,
            barriers=completion.barriers,
            arrival_us=completion.arrival_us,
            completed_us=completion.completed_us + args.barrier_us * completion.barriers,
            per_barrier_us=completion.per_barrier_us + args.barrier_us,
            overhead_pct=_overhead_pct(completion, args.barrier_us),
            switches_per_barrier=outcome.switches / barriers / run.processors,
            utilisation=outcome.utilisation,
            spinning=outcome.spinning_us / everything,
            switching=outcome.switching_us / everything,
            idle=outcome.idle_us / everything,
            quanta=outcome.quanta,
        )
        for number, (described, completion) in enumerate(
            zip(run.applications, outcome.applications, strict=True)
        )
    ]


def _overhead_pct(completion: tollbar.SchedulerCompletion, barrier_us: float) -> float | None:
    """Over its most loaded processor, each of whose threads pays for its barrier."""
    floor_us = completion.floor_us / completion.barriers + completion.most_threads * barrier_us
    return 100 * ((completion.per_barrier_us + barrier_us) / floor_us - 1) if floor_us else None


def _draw(run: Run, args: argparse.Namespace, rows: list[Crowd]) -> None:
    from tollbar.report import executions

    last_us = max(row.completed_us for row in rows)
    some_us = _PICTURE_BARRIERS * max(row.per_barrier_us for row in rows)
    from_us, until_us = args.window_us or (0.0, min(last_us, some_us))
    with Progress("drawing", total=1) as progress:
        outcome = _simulate(
            run, args, progress, "the picture's run",
            from_us=from_us, until_us=until_us, most_spans=executions.MOST_SPANS,
        )  # fmt: skip
    if not outcome.history:
        raise WrongUse(f"nothing happens from {from_us:g} to {until_us:g} us; the run ends at {last_us:g} us")
    if outcome.history_cut:
        raise WrongUse(
            f"more than {executions.MOST_SPANS} stretches of activity are too many to draw; "
            "give a shorter --window-us FROM..UNTIL"
        )
    crowd = "; ".join(f"{each.barrier}, {each.waiting}, {each.threads} threads" for each in run.applications)
    picture = executions.Picture(
        name="execution", title=f"{crowd} on {run.processors} processors", processors=run.processors,
        from_us=from_us, until_us=until_us, quantum_us=args.quantum_us, spans=outcome.history,
        applications=len(run.applications),
    )  # fmt: skip
    args.picture.write_text(executions.alone(picture), encoding="utf-8")

# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate scheduler: barriers where threads outnumber processors, after Markatos et al. 1991.

One application unless --application says more; each combination of barrier, waiting, processors and computing
time is a run of its own.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
from dataclasses import dataclass
from pathlib import Path

import tollbar
from tollbar.cli import arguments, crowds
from tollbar.cli.errors import CommandError, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, describe_columns
from tollbar.models import quanta

KERNELS = ("paper", "fair", "older-fair")
POLICIES = ("partition", "coscheduled", "global", "dedicated", "dynamic")
#: The paper's names, as the catalogue spells them.
_SPELLED = {"centralized": "turnstile", "tree": "mcs:4,2"}
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
        "extra time over computing on its most loaded processor, under global and dynamic on all that it "
        "had; empty when nothing is computed"
    )
    switches_per_barrier: float = column("context switches a barrier and processor, of all applications")
    utilisation: float = column("share of the processors' time spent computing")
    spinning: float = column("share spent spinning", detail=True)
    switching: float = column("share spent switching", detail=True)
    idle: float = column("share spent idle", detail=True)
    quanta: int = column("quanta that ended; ticks under a fair kernel", detail=True)
    kernel: str = column("who runs when several threads want a processor", detail=True)
    neighbours: int = column("threads of others that never wait", detail=True)
    waking: float = column("share spent waking sleepers", detail=True)
    others: float = column("share that the neighbours had", detail=True)
    needed: int | None = column(
        "the fewest processors that would take as long (P_M); empty where applications share the machine",
        detail=True,
    )
    own_us: float = column("what a barrier costs by itself, --barrier-us and --logp together", detail=True)
    fewest_processors: int = column("that the application had at a time", detail=True)
    most_processors: int = column("that the application had at a time", detail=True)
    moves: int = column("of its threads to another processor, because partitions changed", detail=True)


@dataclass(frozen=True)
class Run:
    """One machine with its applications."""

    applications: list[crowds.Described]
    processors: int


@dataclass(frozen=True)
class Times:
    """Of the machine, in microseconds."""

    switch_us: float
    quantum_us: float | None = None  #: None: as Linux has it for so many processors
    tick_us: float = 4000.0
    wake_us: float = 2.0
    call_us: float = 0.0

    def on(self, processors: int) -> dict[str, float]:
        """The simulator's arguments. Linux 6.18 computes the slice so, in sched_init_granularity."""
        slice_us = 700.0 * min(8, processors).bit_length()
        return dataclasses.asdict(self) | {
            "quantum_us": slice_us if self.quantum_us is None else self.quantum_us
        }


_TIMES = {
    "paper": Times(switch_us=100.0, quantum_us=20000.0),
    "fair": Times(switch_us=1.5),
    "older-fair": Times(switch_us=1.5),
}


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
        "--kernel", choices=KERNELS, default="paper",
        help="paper: turns of a quantum, which end at the same time everywhere (default); fair: earliest "
        "eligible deadline, as Linux since 6.17, where naive is sched_yield and smart sleeps until it "
        "is woken; older-fair: Linux 6.6 to 6.16, where a yield costs less",
    )  # fmt: skip
    machine.add_argument(
        "--neighbours", type=int, default=0, metavar="N",
        help="threads of others that never wait, one a processor from the first on (default: 0)",
    )  # fmt: skip
    machine.add_argument(
        "--quantum-us", type=float, metavar="US",
        help="length of a quantum (default: 20000); under a fair kernel of a slice (default: that "
        "of Linux 6.18 for so many processors, 1400 for 2, 2800 for 8 or more)",
    )  # fmt: skip
    machine.add_argument(
        "--switch-us", type=float, metavar="US",
        help="processor time of a context switch (default: 100; the paper's spinning barriers have 0; "
        "under a fair kernel 1.5)",
    )  # fmt: skip
    machine.add_argument(
        "--access-us", type=float, default=0.0, metavar="US",
        help="of the paper's kernel: a word of memory serves one access at a time, each so long, and who "
        "polls it is always there: arrivals at a counter wait for each other, those at a tree only for their "
        "siblings (default: 0, memory costs nothing)",
    )  # fmt: skip
    machine.add_argument(
        "--tick-us", type=float, metavar="US",
        help="of a fair kernel: how often it looks whose slice is used up (default: 4000, HZ=250)",
    )  # fmt: skip
    machine.add_argument(
        "--wake-us", type=float, metavar="US",
        help="of a fair kernel: processor time of waking a sleeper (default: 2)",
    )  # fmt: skip
    machine.add_argument(
        "--call-us", type=float, metavar="US",
        help="of a fair kernel: how long until another processor hears that it shall run a woken thread "
        "(default: 0; in a virtual machine 20)",
    )  # fmt: skip
    machine.add_argument(
        "--policy", choices=POLICIES, default="partition",
        help="partition: each application has processors of its own (default); coscheduled: turns of a "
        "quantum on the whole machine; global: one queue for all threads; "
        "dedicated: one application after the other; dynamic: partitions of equal size, divided anew when an "
        "application arrives or completes",
    )  # fmt: skip
    machine.add_argument(
        "--move-us", type=float, default=0.0, metavar="US",
        help="of dynamic: what the next switch to a thread takes longer when it has moved to another "
        "processor (default: 0)",
    )  # fmt: skip
    crowds.add_arguments(parser)
    parser.add_argument(
        "--barrier-us", type=float, default=0.0, metavar="US",
        help="what a barrier costs by itself, added to the simulated time (the paper's figures 4 and 5 need "
        "0.625 of a switch; default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--logp", type=arguments.logp, metavar="L,o,g",
        help="what signals cost, in us: the price of the barrier's plan is added too, so that a counter "
        "costs in proportion to its threads and a tree to its levels",
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
    times = _times(args)
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
            rows += _rows(
                each, _simulate(each, args, times, progress, f"run {done + 1} of {len(runs)}"), args
            )
    if args.picture:
        _draw(runs[0], args, times, rows)
    notes = [f"the picture is {args.picture}"] if args.picture else []
    return Table(rows, notes=notes + _spared(rows))


def _spared(rows: list[Crowd]) -> list[str]:
    """Processors that another application could have: they take no thread off the fullest one."""
    enough = {
        (row.threads, row.processors): row.needed for row in rows if row.needed not in (None, row.processors)
    }
    return [
        f"{threads} threads take as long on {needed} processor{'s' * (needed > 1)} as on {processors}"
        for (threads, processors), needed in enough.items()
    ]


def _times(args: argparse.Namespace) -> Times:
    given = {
        field.name: value
        for field in dataclasses.fields(Times)
        if (value := getattr(args, field.name)) is not None
    }
    of_others = [name for name in ("tick_us", "wake_us", "call_us") if name in given]
    if args.kernel == "paper" and of_others:
        raise WrongUse(f"--{of_others[0].replace('_', '-')} is of a fair kernel; say --kernel fair")
    return dataclasses.replace(_TIMES[args.kernel], **given)


def _simulate(
    run: Run, args: argparse.Namespace, times: Times, progress: Progress, which: str, **window: float
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
            processors=run.processors, kernel=args.kernel, neighbours=args.neighbours,
            policy=args.policy, seed=args.seed, access_us=args.access_us, move_us=args.move_us, watch=watch,
            **times.on(run.processors), **window,
        )  # fmt: skip
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {which}: {told}") from None
    progress.advance(1 - share)
    return outcome


def _rows(run: Run, outcome: tollbar.SchedulerOutcome, args: argparse.Namespace) -> list[Crowd]:
    barriers = sum(each.barriers for each in outcome.applications)
    everything = run.processors * outcome.completed_us or 1.0
    alone = len(run.applications) == 1 and args.neighbours == 0
    own = [_own_us(described, run.processors, args) for described in run.applications]
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
            completed_us=completion.completed_us + own_us * completion.barriers,
            per_barrier_us=completion.per_barrier_us + own_us,
            overhead_pct=_overhead_pct(completion, own_us),
            switches_per_barrier=outcome.switches / barriers / run.processors,
            utilisation=outcome.utilisation,
            spinning=outcome.spinning_us / everything,
            switching=outcome.switching_us / everything,
            idle=outcome.idle_us / everything,
            quanta=outcome.quanta,
            kernel=args.kernel,
            neighbours=args.neighbours,
            waking=outcome.waking_us / everything,
            others=outcome.neighbours_us / everything,
            needed=quanta.processors_needed(described.threads, run.processors) if alone else None,
            own_us=own_us,
            fewest_processors=completion.fewest_processors,
            most_processors=completion.most_processors,
            moves=completion.moves,
        )
        for number, (described, completion, own_us) in enumerate(
            zip(run.applications, outcome.applications, own, strict=True)
        )
    ]


def _own_us(described: crowds.Described, processors: int, args: argparse.Namespace) -> float:
    """The barrier by itself: all threads arrive at once and have a processor each."""
    if args.logp is None:
        return args.barrier_us
    spelled = _SPELLED.get(described.barrier, described.barrier)
    if spelled == "combination":
        spelled = f"combination:{min(processors, described.threads)}"
    return args.barrier_us + tollbar.price(tollbar.plan(spelled, described.threads), args.logp).last_us


def _overhead_pct(completion: tollbar.SchedulerCompletion, barrier_us: float) -> float | None:
    """Over its most loaded processor, each of whose threads pays for its barrier."""
    floor_us = completion.floor_us / completion.barriers + completion.most_threads * barrier_us
    return 100 * ((completion.per_barrier_us + barrier_us) / floor_us - 1) if floor_us else None


def _draw(run: Run, args: argparse.Namespace, times: Times, rows: list[Crowd]) -> None:
    from tollbar.report import executions

    last_us = max(row.completed_us for row in rows)
    some_us = _PICTURE_BARRIERS * max(row.per_barrier_us for row in rows)
    from_us, until_us = args.window_us or (0.0, min(last_us, some_us))
    with Progress("drawing", total=1) as progress:
        outcome = _simulate(
            run, args, times, progress, "the picture's run",
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
    if args.neighbours:
        crowd += f", {args.neighbours} neighbour{'s' * (args.neighbours > 1)}"
    picture = executions.Picture(
        name="execution", title=f"{crowd} on {run.processors} processors", processors=run.processors,
        from_us=from_us, until_us=until_us, spans=outcome.history, applications=len(run.applications),
        quantum_us=times.on(run.processors)["quantum_us"] if args.kernel == "paper" else times.tick_us,
        dashed="a quantum ends" if args.kernel == "paper" else "a tick",
        completed_us=[completion.completed_us for completion in outcome.applications],
        arrived_us=[completion.arrival_us for completion in outcome.applications],
    )  # fmt: skip
    args.picture.write_text(executions.alone(picture), encoding="utf-8")

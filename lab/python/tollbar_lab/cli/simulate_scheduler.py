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
from typing import TYPE_CHECKING, Any, TypedDict

from tollbar.backports import zip_equal
from tollbar.cli import arguments, output
from tollbar.cli.errors import Interrupted, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, describe_columns

import tollbar_lab
from tollbar_lab.cli import crowds
from tollbar_lab.models import quanta

if TYPE_CHECKING:
    from typing_extensions import Unpack

POLICIES = ("partition", "coscheduled", "global", "dedicated", "dynamic")
_PICTURE_BARRIERS = 6  # so many are in a picture
_SHORT_RUN = 2000  # stretches of activity; a run that has no more is drawn as a whole


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
    per_barrier_us: float = column("elapsed time a barrier, computing and own= included")
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
        "the fewest processors that would take as long (P_M); empty where applications share the machine", detail=True
    )
    own_us: float = column("what a barrier costs by itself: own= of --kernel", detail=True)
    fewest_processors: int = column("that the application had at a time", detail=True)
    most_processors: int = column("that the application had at a time", detail=True)
    moves: int = column("of its threads to another processor, because partitions changed", detail=True)


@dataclass(frozen=True)
class Run:
    """One machine with its applications."""

    applications: list[crowds.Described]
    processors: int


_TIME = arguments.microseconds
_ORDER = arguments.one_of(("numbered", "shuffled"))
#: Settings of --kernel beside its name, and what is taken otherwise. A fair kernel's quantum is its slice.
_PAPER = {"switch": 100.0, "quantum": 20000.0, "access": 0.0, "own": 0.0, "move": 0.0, "order": "numbered"}
_FAIR = {"switch": 1.5, "quantum": None, "tick": 4000.0, "wake": 2.0, "call": 0.0, "own": 0.0,
         "order": "numbered"}  # fmt: skip
KERNELS: dict[str, dict[str, Any]] = {"paper": _PAPER, "fair": _FAIR, "older-fair": _FAIR}


@dataclass(frozen=True)
class Kernel:
    """A kernel: which thread runs when several want a processor, and what that takes, in microseconds."""

    name: str
    given: dict[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.given.get(key, KERNELS[self.name].get(key, 0.0))

    def on(self, processors: int) -> dict[str, float]:
        """The simulator's arguments. Linux 6.18 computes the slice so, in sched_init_granularity."""
        slice_us = 700.0 * min(8, processors).bit_length()
        times = {key: self[key] for key in KERNELS[self.name] if key not in ("own", "order")}
        return {f"{key}_us": slice_us if us is None else us for key, us in times.items()}


def _kernel(text: str) -> Kernel:
    """`NAME` or `NAME,KEY=VALUE,...`."""
    name, _, rest = text.partition(",")
    keys = KERNELS[arguments.one_of(tuple(KERNELS))(name)]
    readers = {key: _ORDER if key == "order" else _TIME for key in keys}
    return Kernel(name, arguments.pairs(readers)(rest) if rest else {})


def _picture(text: str) -> Path:
    if Path(text).suffix != ".svg":
        raise argparse.ArgumentTypeError(f"'{text}' must end in .svg")
    return Path(text)


def add_parser(kinds: argparse._SubParsersAction) -> None:
    parser = kinds.add_parser(
        "scheduler",
        help=__doc__.partition(": ")[2].partition("\n")[0],
        description=__doc__.partition("\n")[0],
        epilog=f"{describe_columns(Crowd)}\n\n{_KERNELS}",
    )
    crowds.add_arguments(parser)
    arguments.add_ranks(parser, "processors; A..B too (default: 8)", "--cpus", default=[range(8, 9)])
    parser.add_argument(
        "--kernel",
        type=_kernel,
        default=Kernel("paper", {}),
        metavar="NAME,...",
        help="paper (default), fair, older-fair; fair,switch=2",
    )
    parser.add_argument(
        "--neighbours",
        type=arguments.number(int, 0, 1024, "number of neighbours"),
        default=0,
        metavar="N",
        help="threads of others that never wait, one a processor",
    )
    parser.add_argument("--policy", choices=POLICIES, default="partition", metavar="HOW", help=f"{', '.join(POLICIES)}")
    parser.add_argument("--seed", type=arguments.seed, metavar="N", help="of what is drawn (default: 1)")
    parser.add_argument(
        "-o", "--output", type=_picture, metavar="FILE", help="also draw what processors did in a run (svg)"
    )


_KERNELS = """\
waiting: smart yields where another local thread can go on; under a fair kernel it sleeps, after N yields
computing: US~S varies by the share S; a FILE is a recorded program: thread,compute_us or thread,event,value
           (compute US, send THREAD, receive THREAD, barrier)
runs: each combination of plan, waiting, CPUs and computing; one application unless --application says more
application: ranks, compute, barrier, waiting, placement and episodes are those of the options;
           arrival=0: when it comes, in us; cpus=: how many processors its partition has (default: an equal share)

kernels, with times in us:
  paper       turns of a quantum that end everywhere at once. quantum=20000; switch=100: a context switch;
              access=0: a word of memory serves one access at a time; move=0: what a thread's next switch
              takes longer when --policy dynamic has moved it
  fair        Linux since 6.17: smart sleeps. quantum=: its slice (Linux 6.18's); switch=1.5; tick=4000: how
              often slices are looked at; wake=2: waking a sleeper; call=0: until it is seen elsewhere
  older-fair  Linux 6.6 to 6.16, where a yield costs less
  all         order=numbered or shuffled: which thread of a processor is next; own=0: added to each barrier
"""


def run(args: argparse.Namespace) -> Table:
    runs = [
        Run(applications, processors)
        for applications, processors in itertools.product(crowds.described(args), arguments.sizes(args.cpus))
    ]
    drawn = args.kernel["order"] == "shuffled" or any(
        application.varies for run in runs for application in run.applications
    )
    if args.seed is not None and not drawn:
        raise WrongUse("--seed: nothing is drawn; give times that vary, as 20~0.5, or order=shuffled")
    if args.kernel["move"] and args.policy != "dynamic":
        raise WrongUse("move=: only --policy dynamic moves threads")
    alone = not args.neighbours and len(args.application) < 2
    if alone and args.policy not in ("partition", "global"):
        raise WrongUse(f"--policy {args.policy}: one application alone has the machine; add --application")
    if args.placement and args.policy == "global":
        raise WrongUse("--placement: under --policy global no thread has a processor of its own")
    if args.output and len(runs) > 1:
        raise WrongUse(f"-o draws one run, these are {len(runs)}; give one value for each option")
    rows = []
    with Progress("simulating", total=len(runs)) as progress:
        for done, case in enumerate(runs):
            rows += _rows(case, _simulate(case, args, progress, f"run {done + 1} of {len(runs)}"), args)
    if args.output:
        _draw(runs[0], args, rows)
    notes = [f"the picture is {args.output}"] if args.output else []
    return Table(rows, notes=notes + _spared(rows))


def _spared(rows: list[Crowd]) -> list[str]:
    """Processors that another application could have: they take no thread off the fullest one."""
    enough = {(row.threads, row.processors): row.needed for row in rows if row.needed not in (None, row.processors)}
    return [
        f"{threads} threads take as long on {needed} processor{'s' * (needed > 1)} as on {processors}"
        for (threads, processors), needed in enough.items()
    ]


class _Window(TypedDict, total=False):
    """The part of a run whose history is kept."""

    from_us: float
    until_us: float
    most_spans: int


def _simulate(
    run: Run, args: argparse.Namespace, progress: Progress, which: str, **window: Unpack[_Window]
) -> tollbar_lab.SchedulerOutcome:
    progress_text = "it had just begun"
    share = 0.0

    def watch(simulated_us: float, passed: int, total: int) -> None:
        nonlocal progress_text, share
        progress_text = f"{simulated_us / 1e6:.6g} s were simulated, {passed / total:.1%} of the barriers passed"
        progress.advance(passed / total - share)
        share = passed / total

    try:
        outcome = tollbar_lab.simulate_scheduler(
            [application.application for application in run.applications],
            processors=run.processors,
            kernel=args.kernel.name,
            neighbours=args.neighbours,
            policy=args.policy,
            seed=1 if args.seed is None else args.seed,
            watch=watch,
            **args.kernel.on(run.processors),
            **window,
        )
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted in {which}: {progress_text}") from None
    progress.advance(1 - share)
    return outcome


def _rows(run: Run, outcome: tollbar_lab.SchedulerOutcome, args: argparse.Namespace) -> list[Crowd]:
    barriers = sum(completion.barriers for completion in outcome.applications)
    everything = run.processors * outcome.completed_us or 1.0
    alone = len(run.applications) == 1 and args.neighbours == 0
    own_us = args.kernel["own"]
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
            kernel=args.kernel.name,
            neighbours=args.neighbours,
            waking=outcome.waking_us / everything,
            others=outcome.neighbours_us / everything,
            needed=quanta.processors_needed(described.threads, run.processors) if alone else None,
            own_us=own_us,
            fewest_processors=completion.fewest_processors,
            most_processors=completion.most_processors,
            moves=completion.moves,
        )
        for number, (described, completion) in enumerate(zip_equal(run.applications, outcome.applications))
    ]


def _overhead_pct(completion: tollbar_lab.SchedulerCompletion, barrier_us: float) -> float | None:
    """Over its most loaded processor, each of whose threads pays for its barrier."""
    floor_us = completion.floor_us / completion.barriers + completion.most_threads * barrier_us
    return 100 * ((completion.per_barrier_us + barrier_us) / floor_us - 1) if floor_us else None


def _draw(run: Run, args: argparse.Namespace, rows: list[Crowd]) -> None:
    """All of a short run, else its beginning."""
    from tollbar_lab.papers import lanes

    with Progress("drawing", total=1) as progress:
        last_us = max(row.completed_us for row in rows)
        outcome = _history(run, args, progress, last_us, _SHORT_RUN)
        if outcome.history_cut:
            last_us = min(last_us, _PICTURE_BARRIERS * max(row.per_barrier_us for row in rows))
            outcome = _history(run, args, progress, last_us, lanes.MOST_SPANS)
    if outcome.history_cut:
        raise WrongUse(f"more than {lanes.MOST_SPANS} stretches of activity are too many to draw")
    crowd = "; ".join(
        f"{application.barrier}, {application.waiting}, {application.threads} threads"
        for application in run.applications
    )
    if args.neighbours:
        crowd += f", {args.neighbours} neighbour{'s' * (args.neighbours > 1)}"
    paper = args.kernel.name == "paper"
    picture = lanes.history(
        outcome,
        f"{crowd} on {run.processors} processors",
        run.processors,
        last_us,
        args.kernel["quantum" if paper else "tick"],
        "a quantum ends" if paper else "a tick",
    )
    output.write(args.output, lanes.svg(picture))


def _history(
    run: Run, args: argparse.Namespace, progress: Progress, until_us: float, most: int
) -> tollbar_lab.SchedulerOutcome:
    return _simulate(run, args, progress, "the picture's run", from_us=0.0, until_us=until_us, most_spans=most)

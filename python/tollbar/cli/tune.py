# SPDX-License-Identifier: Apache-2.0
"""tollbar tune: picks the fastest safe barrier for each situation and stores it for the library."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli import bench, tune_mpi
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.table import Table, column, describe_columns

if TYPE_CHECKING:
    from tollbar.data.choice import Choice
    from tollbar.data.tuning import Entry


@dataclass(frozen=True)
class Tuned:
    """One situation and what to use in it."""

    ranks: int = column("how many threads")
    cpus: int = column("how many processors they may use")
    placement: str = column("pinned to processors, or free")
    plan: str = column("the plan to use, as `tollbar plans` spells it")
    verdict: str = column(
        "best: faster than every other; tie: as fast as others, and the one the model prefers"
    )
    latency_ns: float = column("last entry to last exit, median over launches")
    runner_up: str | None = column("the next best, or the fastest of those it ties with")
    by: str = column("what is compared with the next best: latency, or the period of a loop")
    ratio: float | None = column("that of the next best divided by that of the choice")
    low: float | None = column("lower end of its 95 % interval; empty with a single launch")
    high: float | None = column("upper end of it")


def add_parser(commands: argparse._SubParsersAction) -> None:
    columns = f"threads: {describe_columns(Tuned)}\n\nmpi: {describe_columns(tune_mpi.TunedMpi)}"
    parser = commands.add_parser("tune", help=__doc__.partition(": ")[2], epilog=columns)
    parser.add_argument(
        "kind", nargs="?", choices=("threads", "mpi"), default="threads",
        help="threads: from stored measurements; mpi: measures each MPI that is here (default: threads)",
    )  # fmt: skip
    parser.add_argument(
        "--results",
        type=Path,
        metavar="DIR",
        help="for threads: a stored run, or a folder of runs "
        "(default: the newest; measures briefly if there is none)",
    )
    tune_mpi.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    return _tune_mpi(args) if args.kind == "mpi" else _tune_threads(args)


def _tune_mpi(args: argparse.Namespace) -> Table:
    from tollbar import environment

    if args.results:
        raise WrongUse("--results is for threads; `tollbar tune mpi` measures itself")
    entries, table = tune_mpi.run(args)
    path = environment.tuning_file()
    store(path, entries)
    return replace(table, notes=[f"stored in {path}"])


def _tune_threads(args: argparse.Namespace) -> Table:
    from tollbar import environment
    from tollbar.data import choice, comparison, results
    from tollbar.machine import facts as machine

    folder = results.chosen(args.results, args.kind)
    if folder is None and args.results:
        raise WrongUse(f"{args.results} holds no run; `tollbar bench {args.kind}` makes one")
    if folder is None:
        print("tollbar tune: nothing is stored yet; measuring for half a minute", file=sys.stderr)
        folder = bench.measure_briefly()
    stored = results.read_run(folder)
    compared = comparison.compare(stored.launches)
    choices = [chosen for each in compared.values() if (chosen := choice.choose(each)) is not None]
    if not choices:
        raise WrongUse(
            f"{folder} holds none of tollbar's own barriers; `tollbar bench {args.kind}` measures them"
        )
    path = environment.tuning_file()
    store(path, [entry(chosen, machine.short_id(stored.environment)) for chosen in choices])
    return Table([_row(chosen) for chosen in choices], Tuned, notes=[f"stored in {path}, from {folder.name}"])


def store(path: Path, entries: list[Entry]) -> None:
    """Merges the entries into the file; one line on stderr when a corrupt one had to be put aside."""
    from tollbar.data import tuning

    try:
        written = tuning.write(path, entries)
    except OSError as error:
        raise CheckFailed(
            f"{error.filename or path}: {error.strerror}; set TOLLBAR_TUNING to a file that can be written"
        ) from None
    if written.put_aside:
        print(
            f"tollbar tune: {path} was corrupt ({written.why_corrupt}); kept as {written.put_aside.name}",
            file=sys.stderr,
        )


def entry(chosen: Choice, machine: str) -> Entry:
    """The choice as a line of the tuning file."""
    from tollbar.data.tuning import Entry

    pairs = {
        "ranks": str(chosen.situation.ranks),
        "cpus": str(chosen.usable),
        "pinned": "yes" if chosen.situation.placement == "pinned" else "no",
        "plan": chosen.pick.name,
        "wait": chosen.pick.wait,
        "verdict": chosen.verdict.value,
        "latency_ns": f"{chosen.latency.value:.1f}",
    }
    if chosen.runner_up and chosen.ratio:
        pairs |= {"runner_up": chosen.runner_up.name, "by": chosen.by, "ratio": f"{chosen.ratio.value:.3f}"}
        if chosen.ratio.low is not None and chosen.ratio.high is not None:
            pairs |= {"low": f"{chosen.ratio.low:.3f}", "high": f"{chosen.ratio.high:.3f}"}
    return Entry("threads", pairs | {"machine": machine})


def _row(chosen: Choice) -> Tuned:
    ratio = chosen.ratio
    return Tuned(
        chosen.situation.ranks,
        chosen.usable,
        chosen.situation.placement,
        chosen.pick.name,
        chosen.verdict.value,
        chosen.latency.value,
        chosen.runner_up.name if chosen.runner_up else None,
        chosen.by,
        ratio.value if ratio else None,
        ratio.low if ratio else None,
        ratio.high if ratio else None,
    )

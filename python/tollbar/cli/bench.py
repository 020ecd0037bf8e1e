# SPDX-License-Identifier: Apache-2.0
"""tollbar bench: measures the barriers that run here and prints how long each takes, the fastest first."""

from __future__ import annotations

import argparse
import difflib
import math
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tollbar
from tollbar.cli import (
    arguments,
    bench_company,
    bench_crowd,
    bench_shmem,
    bench_targets,
    bench_times,
    bench_work,
    ways,
)
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, describe_columns
from tollbar.cli.watching import Watcher, told

if TYPE_CHECKING:
    from tollbar.campaigns.campaign import Asked, Campaign

MOST_HOSTS = 64


def _numbers(text: str, kind: type, accepts: Callable[[Any], bool], meaning: str) -> tuple[Any, ...]:
    """What stands between commas, each once."""
    found = []
    for part in text.split(","):
        try:
            number = kind(part)
        except ValueError:
            number = math.nan
        if not accepts(number):
            raise argparse.ArgumentTypeError(f"'{part}' is not {meaning}")
        found.append(number)
    return tuple(dict.fromkeys(found))


def _counts(least: int, most: int, what: str) -> Callable[[str], tuple[int, ...]]:
    meaning = f"a number of {what} from {least} to {most}"
    return lambda text: _numbers(text, int, lambda number: least <= number <= most, meaning)


def _one(least: float, most: float, kind: type, meaning: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        (number, *more) = _numbers(text, kind, lambda number: least <= number <= most, meaning)
        if more:
            raise argparse.ArgumentTypeError(f"'{text}' is not {meaning}")
        return number

    return read


def _placements(text: str) -> tuple[str, ...]:
    for part in text.split(","):
        if part not in ("pinned", "free"):
            raise argparse.ArgumentTypeError(f"'{part}' is not one of pinned, free")
    return tuple(dict.fromkeys(text.split(",")))


def _level(text: str) -> str:
    if text not in ("funneled", "serialized", "multiple"):
        raise argparse.ArgumentTypeError(f"'{text}' is not one of funneled, serialized, multiple")
    return text


_positive = _one(1, 1e6, int, "a whole number, at least 1")
_hosts = _one(1, MOST_HOSTS, int, f"a number of hosts from 1 to {MOST_HOSTS}")
_neighbours = _one(0, 64, int, "a number of neighbours from 0 to 64")
_seconds = _one(1e-3, 1e6, float, "a number of seconds above 0")


def _times(text: str) -> tuple[float, ...]:
    return _numbers(text, float, lambda us: 0 < us <= 1e6, "a time above 0 and up to 1000000 us")


def _shares(text: str) -> tuple[float, ...]:
    return _numbers(text, float, lambda share: 0 <= share <= 1, "a share from 0 to 1")


#: Every option by its flag: how it is read (a switch, if it is not), what stands for its value, and its help.
OPTIONS: dict[str, tuple[Callable[[str], Any] | None, str | None, str]] = {
    "--placement": (_placements, "pinned,free", "of threads (default: both)"),
    "--spinners": (None, None, "also barriers that only spin where threads share processors: far slower"),
    "--all": (None, None, "print every waiting policy that was measured, not only the usual one"),
    "--mpi": (
        arguments.names,
        "NAME[,NAME...]",
        "openmpi, mpich, impi, openmpi5 (default: one of each)",
    ),
    "--hosts": (_hosts, "N", "over N hosts made of network namespaces, which needs root and a checkout"),
    "--threads": (_counts(1, 256, "threads"), "T[,T...]", "threads in each rank"),
    "--level": (_level, "LEVEL", "of the MPI: funneled, serialized (default), multiple"),
    "--processors": (_counts(1, 1024, "processors"), "C[,C...]", "on how many processors"),
    "--compute-us": (
        _times,
        "US[,US...]",
        "before each barrier; long computing only with --full",
    ),
    "--variation": (_shares, "SHARE[,SHARE...]", "by how much computing times vary"),
    "--company": (
        bench_company.companies,
        "WHO[,WHO...]",
        "alone; neighbour, neighbours: one or two loops in the same session; session, cgroup: one in "
        "another; quota: of 1.5 CPUs",
    ),
    "--between": (
        bench_company.loads,
        "US[,US...]",
        "computing between barriers, US~SHARE for times that vary (default: 0,20~0.5,200~0.5)",
    ),
    "--workload": (
        str,
        "LIST|paper",
        "ranks compute between barriers and runs are timed: US, US~SHARE for times that vary, 360us, 2100us, "
        "9450us; paper: those of the NIC paper (--quick: some of them)",
    ),
    "--loops": (
        _one(1, 1e6, int, "a number of loops from 1 to 1000000"),
        "N",
        "with --workload: so many runs of each in all launches together (default: 10,000 as in the paper; "
        "--quick: as many as compute for 0.02 s)",
    ),
    "--targets": (None, None, "print how far this machine is from the project's targets instead"),
    "--paper": (None, None, "print the paper's summary table with this machine beside it instead"),
    "--model": (None, None, "measure nothing; print what the paper's experiments cost in the model"),
    "--neighbours": (
        _neighbours,
        "N",
        "as plain programs beside N endless loops (default: alone, put first)",
    ),
    "--launches": (_positive, "L", "processes or jobs a program and situation"),
    "--rounds": (_positive, "R", "most rounds in a launch"),
    "--budget": (_seconds, "SECONDS", "stop after this time"),
    "--only": (
        arguments.names,
        "NAME[,NAME...]",
        "only these; NAME+park, +spin, +yield: one waiting policy",
    ),
    "--quick": (None, None, "a first look"),
    "--full": (None, None, "everything there is: hours"),
    "--seed": (int, "N", "seed of the shuffling; recorded (default: from the clock)"),
    "--output": (Path, "DIR", "where to store the run (default: the results folder)"),
}
#: What stands for an option that is not given; None for all others.
DEFAULTS: dict[str, Any] = {"--mpi": (), "--only": (), "--hosts": 1, "--level": "serialized"}
#: What an option is called in campaigns, where that is not its own name.
_FIELDS = {
    "placement": "placements", "mpi": "mpis", "variation": "variations", "budget": "budget_s",
    "company": "companies", "between": "workloads", "loops": "runs",
}  # fmt: skip
#: What every bench has.
COMMON = ("--neighbours", "--launches", "--rounds", "--budget", "--only", "--quick", "--seed", "--output")


@dataclass(frozen=True)
class Bench:
    """One sub-verb: what it measures, which options only some have, what users have today."""

    name: str
    about: str
    ranks: str  #: what --ranks are
    options: Sequence[str]
    row: type = bench_times.Timed
    campaign: str = ""  #: its module; its own name, if there is none
    most_ranks: int = 4096
    without: Sequence[str] = ()  #: of what every bench has

    def add_parser(self, benches: argparse._SubParsersAction) -> None:
        parser = benches.add_parser(
            self.name,
            help=self.about,
            description=f"Measures {self.about}.",
            epilog=describe_columns(self.row),
        )
        parser.add_argument(
            "--ranks",
            type=_counts(2, self.most_ranks, self.ranks),
            metavar="N[,N...]",
            help=f"how many {self.ranks} (default: {','.join(map(str, self._amounts('usual')['ranks']))})",
        )
        for flag in (*(each for each in COMMON if each not in self.without), *self.options):
            reads, metavar, text = OPTIONS[flag]
            if reads is None:
                parser.add_argument(flag, action="store_true", help=text)
            else:
                parser.add_argument(flag, type=reads, metavar=metavar, default=DEFAULTS.get(flag), help=text)

    def run(self, args: argparse.Namespace) -> Table:
        from tollbar.campaigns.campaign import NotHere

        if getattr(args, "full", False) and args.quick:
            raise WrongUse("--full and --quick exclude each other")
        if getattr(args, "model", False):
            return bench_shmem.model(args.ranks)
        workload = getattr(args, "workload", None) is not None
        try:
            folder, unsafe = self._measure_workload(args) if workload else self.measure(args)
        except NotHere as error:
            print(f"tollbar bench: {error}", file=sys.stderr)
            return Table([], self.row)
        if workload:
            return bench_work.table(folder, unsafe)
        if getattr(args, "targets", False):
            return bench_targets.table(folder, unsafe)
        if getattr(args, "paper", False):
            return bench_shmem.paper(folder, unsafe)
        if self.name == "crowd":
            return bench_crowd.table(folder, unsafe)
        if self.name == "company":
            return bench_company.table(folder, unsafe)
        return bench_times.table(folder, unsafe, every_policy=bool(args.only) or args.all)

    def _amounts(self, amount: str, bench: str = "") -> dict[str, Any]:
        from tollbar.campaigns.campaign import amounts

        return amounts(bench or self.campaign or self.name, amount)

    def _asked(self, args: argparse.Namespace, bench: str = "") -> Asked:
        """What the arguments say, and the usual, quick or full amount of what they do not say."""
        from tollbar.campaigns.campaign import Asked

        full = getattr(args, "full", False)
        usual = self._amounts("full" if full else "quick" if args.quick else "usual", bench)
        given = {_FIELDS.get(name, name): value for name, value in vars(args).items() if value is not None}
        given |= {"cards": self.name == "nic"} | ({} if "seed" in given else {"seed": time.time_ns() % 2**31})
        known = {field.name for field in fields(Asked)}
        return Asked(**usual | {name: value for name, value in given.items() if name in known})

    def measure(self, args: argparse.Namespace) -> tuple[Path, bool]:
        asked = self._asked(args)
        module = import_module(f"tollbar.campaigns.{self.campaign or self.name}")
        if asked.hosts > 1:
            asked = replace(asked, ranks=args.ranks or (asked.hosts,))
            if uneven := [each for each in asked.ranks if each % asked.hosts]:
                raise WrongUse(f"--ranks {uneven[0]} cannot be spread evenly over {asked.hosts} hosts")
        if self.name == "company" and (args.ranks or args.placement):
            asked = replace(asked, pinned=())
        if self.name == "crowd":
            asked = bench_crowd.on_these_processors(asked)
        if asked.only:
            _check_names(asked, module.names())
        return _run(module.prepared(asked), args.output)

    def _measure_workload(self, args: argparse.Namespace) -> tuple[Path, bool]:
        from tollbar.campaigns import work

        asked = self._asked(args, "work_over_hosts" if self.name in ("udp", "nic") else "work")
        asked = replace(
            asked,
            workloads=bench_work.named(args.workload, args.quick),
            as_printed=args.workload == "paper" and self.name in ("udp", "nic") and not asked.full,
        )
        return _run(work.prepared(self.name, asked), args.output)


def _check_names(asked: Asked, names: Collection[str]) -> None:
    """Raises WrongUse for what cannot be measured, before anything is launched."""
    for name in asked.only:
        plain = name.partition("+")[0]
        if name in names or plain in names:
            continue
        try:
            _plan_of(plain, asked)
        except ValueError as error:
            known = [] if asked.threads else arguments.CATALOGUE  # those are of one level
            near = difflib.get_close_matches(plain, [*names, *known], n=1)
            why = f"there is no such barrier; did you mean '{near[0]}'?" if near else str(error)
            raise WrongUse(f"--only {name}: {why}") from None


def _plan_of(name: str, asked: Asked) -> tollbar.Plan:
    """The plan between most of the ranks and their threads. Raises ValueError where there is none."""
    if not asked.threads:
        return tollbar.plan(name, max(asked.ranks))
    inner, slash, outer = name.partition("/")
    if not slash:
        raise ValueError("a barrier of two levels is spelled INNER/OUTER, as in turnstile/dissemination")
    threads = max(asked.threads)
    return tollbar.plan(f"{inner}@{threads}/{outer}", max(asked.ranks) * threads)


def _run(
    prepared: AbstractContextManager[tuple[Campaign, list[str]]], output: Path | None
) -> tuple[Path, bool]:
    """Measures; gives the folder of the run, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import passes
    from tollbar.campaigns.campaign import NotHere
    from tollbar.data import results

    try:
        with prepared as (work, notes):
            if not work.situations:
                raise WrongUse(
                    "nothing is left to measure: no installed MPI can be measured with these --ranks"
                )
            with Watcher(work.asked.launches * len(work.situations)) as watcher:
                return told(passes.measure(work, notes, output or results.folder(), watcher.report))
    except NotHere:
        raise
    except (FileNotFoundError, RuntimeError, ValueError) as error:
        raise WrongUse(error) from None


BENCHES = {
    bench.name: bench
    for bench in (
        Bench(
            "threads",
            "barriers between threads, beside those of C++, pthreads, OpenMP, Boost and Concurrency Kit",
            "threads",
            ("--placement", "--spinners", "--workload", "--all", "--targets"),
        ),
        Bench(
            "crowd",
            "threads that compute between barriers on too few processors, beside a simulation of them",
            "threads",
            ("--processors", "--compute-us", "--variation", "--full"),
            row=bench_crowd.Crowded,
        ),
        Bench(
            "company",
            "every way to wait between threads, alone and in company, as a plain program",
            "threads",
            ("--placement", "--company", "--between", "--targets", "--full"),
            row=bench_company.InCompany,
            without=("--neighbours", "--rounds"),
        ),
        Bench(
            "mpi",
            "barriers between the ranks of an MPI, beside the MPI's own",
            "ranks",
            ("--mpi", "--hosts", "--workload", "--all", "--targets", "--full"),
        ),
        Bench(
            "hybrid",
            "barriers between threads inside ranks, beside what users write around MPI_Barrier",
            "ranks",
            ("--mpi", "--threads", "--level", "--all", "--full"),
        ),
        Bench(
            "shmem",
            "split barriers between PEs of an OpenSHMEM, alone and in a sparse exchange of messages",
            "PEs",
            ("--workload", "--all", "--targets", "--paper", "--model"),
        ),
        Bench(
            "udp",
            "barriers between hosts over UDP, beside an MPI over TCP; hosts are network namespaces",
            "hosts",
            ("--workload", "--loops", "--all", "--full"),
            most_ranks=MOST_HOSTS,
        ),
        Bench(
            "nic",
            "MPI_Barrier by the hosts' messages and on their network cards, and both without an MPI",
            "hosts",
            ("--workload", "--loops", "--all", "--full"),
            campaign="udp",
            most_ranks=MOST_HOSTS,
        ),
    )
}


def measure_in_company(asked: Asked) -> Path:
    """A run of what `tollbar tune` has to know; its folder."""
    from tollbar.campaigns import company

    return _run(company.prepared(asked, "tune"), None)[0]


def measure_briefly() -> Path:
    """Half a minute of threads, for whoever needs some run; its folder."""
    parser = argparse.ArgumentParser()
    BENCHES["threads"].add_parser(parser.add_subparsers())
    return BENCHES["threads"].measure(parser.parse_args(["threads", "--quick"]))[0]


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "bench", __doc__, "WHAT", BENCHES)

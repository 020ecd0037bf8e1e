# SPDX-License-Identifier: Apache-2.0
"""tollbar bench: measures the barriers that run here and prints how long each takes, the fastest first."""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tollbar
from tollbar import InvalidArgument
from tollbar.cli import arguments, bench_times, bench_values, ways
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, describe_columns
from tollbar.cli.watching import MeasuringProgress, finished

if TYPE_CHECKING:
    from tollbar.campaigns.campaign import Campaign, Request

MOST_HOSTS = 64
_COUNT = arguments.number(int, 1, what="number")


def _as_programs_name_it(text: str) -> str:
    """Rows have `mcs (park)` where programs are asked for mcs+park."""
    name, gap, wait = text.partition(" (")
    return f"{name}+{wait.removesuffix(')')}" if gap else text


#: Every option by its flag: how it is read, what stands for its value, and its help.
OPTIONS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "--compute": (bench_values.workloads, "US[~S],...", "us of computing before each barrier, varied by a share"),
    "--beside": (
        bench_values.neighbours,
        "WHO,...",
        "alone, neighbour, neighbours, session, cgroup, quota: plain programs beside those; all",
    ),
    "--cpus": (bench_values.counts(1, 1024, "processors"), "N,...", "on so many of the CPUs (default: all)"),
    "--placement": (
        arguments.listed(arguments.one_of(("pinned", "free"))),
        "WHERE",
        "of threads: pinned, free (default: both)",
    ),
    "--mpi": (arguments.names, "NAME,...", "openmpi, mpich, impi, openmpi5 (default: one of each)"),
    "--hosts": (
        arguments.number(int, 1, MOST_HOSTS, "number of hosts"),
        "N",
        "over N hosts of network namespaces; needs root",
    ),
    "--threads": (bench_values.counts(1, 256, "threads"), "T,...", "threads in each rank"),
    "--level": (str, "", "what is asked of the MPI"),
}
#: The help of options that mean more or less for ranks than for threads.
OF_RANKS = {
    "--compute": "computing before each barrier; or 360us, 2100us, 9450us, paper",
    "--beside": "neighbour, neighbours: plain programs beside those",
}
#: Every bench has these: what is otherwise than its effort says.
AMOUNTS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "--launches": (_COUNT, "N", "processes or jobs in each situation"),
    "--episodes": (_COUNT, "N", "of each barrier in a launch; with --compute: runs"),
    "--budget": (arguments.number(float, arguments.ABOVE_0, what="number of seconds"), "S", "seconds in all"),
    "--seed": (arguments.number(int, 0, 2**31, "whole number"), "N", "of the order (default: the time)"),
}
EFFORTS = ("quick", "usual", "full")
LEVELS = ("funneled", "serialized", "multiple")
#: The names of options in campaigns that are not their own.
_FIELDS = {"budget": "budget_s", "placement": "placements", "mpi": "mpis", "compute": "workloads", "barriers": "only"}


@dataclass(frozen=True)
class Bench:
    """One sub-verb: what it measures, which options only some have."""

    name: str
    about: str
    ranks: str  #: what --ranks are
    options: Sequence[str] = ()
    campaign: str = ""  #: its module; its own name, if there is none
    most_ranks: int = 4096

    def add_parser(self, benches: argparse._SubParsersAction) -> None:
        parser = benches.add_parser(
            self.name,
            help=self.about,
            description=f"Measures {self.about}.",
            epilog=describe_columns(bench_times.Timed),
        )
        parser.add_argument(
            "barriers",
            nargs="*",
            type=_as_programs_name_it,
            metavar="BARRIER",
            help="only these, as rows name them; NAME+park: one policy"
            + ("; doors: what preloads gain and cost" if self.name == "threads" else ""),
        )
        parser.add_argument(
            "--ranks",
            type=bench_values.counts(2, self.most_ranks, self.ranks),
            metavar="N,...",
            help=f"how many {self.ranks} (default: {','.join(map(str, self._amounts('usual')['ranks']))})",
        )
        for flag in self.options:
            reads, metavar, text = OPTIONS[flag]
            text = text if self.name == "threads" else OF_RANKS.get(flag, text)
            if flag == "--level":
                parser.add_argument(flag, choices=LEVELS, default=LEVELS[1], help=f"{text} (default: {LEVELS[1]})")
            else:
                parser.add_argument(flag, type=reads, metavar=metavar, help=text)
        parser.add_argument(
            "--effort",
            type=arguments.one_of(EFFORTS),
            metavar="AMOUNT",
            default="usual",
            help=f"{', '.join(EFFORTS)}: as much as is not said here",
        )
        for flag, (reads, metavar, text) in AMOUNTS.items():
            parser.add_argument(flag, type=reads, metavar=metavar, help=text)
        parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder of the run (default: results)")

    def run(self, args: argparse.Namespace) -> Table:
        from tollbar.campaigns.campaign import NotHere

        how = self._how(args)
        try:
            folder, unsafe = self.measure(args, how)
        except NotHere as error:
            print(f"tollbar bench: {error}", file=sys.stderr)
            return Table([], bench_times.Timed)
        every = bool(args.barriers) or args.effort == "full" or how == "turns"
        return bench_times.table(folder, unsafe, every_policy=every)

    def _how(self, args: argparse.Namespace) -> str:
        """The amounts that the options ask for. Raises WrongUse for options of two campaigns."""
        beside, cpus, compute = (getattr(args, name, None) for name in ("beside", "cpus", "compute"))
        if self.name == "threads":
            return "turns" if beside or cpus or compute else "threads"
        if compute and beside:
            raise WrongUse("--compute and --beside exclude each other, except for threads")
        return "work" if compute else self.campaign or self.name

    def _amounts(self, amount: str, how: str = "") -> dict[str, Any]:
        from tollbar.campaigns.campaign import amounts

        return amounts(how or self.campaign or self.name, amount)

    def _request(self, args: argparse.Namespace, how: str) -> Request:
        """The values that the arguments give, and the usual, quick or full amount of what they do not say."""
        from tollbar.campaigns.campaign import Request

        amount = args.effort
        given = {"seed": time.time_ns() % 2**31}
        given |= {_FIELDS.get(name, name): value for name, value in vars(args).items() if value is not None}
        given |= {"rounds": 1} if args.episodes else {}
        given |= {"nics": self.name == "nic", "full": amount == "full"}
        if args.barriers or "launches" in given:
            given["most_launches"] = 0  # as often as it says
        known = {field.name for field in fields(Request)}
        over_hosts = how == "work" and self.name in ("udp", "nic")
        usual = self._amounts(amount, "work_over_hosts" if over_hosts else how)
        return Request(**usual | {name: value for name, value in given.items() if name in known})

    def measure(self, args: argparse.Namespace, how: str) -> tuple[Path, bool]:
        request = self._request(args, how)
        if how == "work":
            return self._measure_workload(args, request)
        module = import_module(f"tollbar.campaigns.{self.campaign or self.name}")
        if request.hosts > 1:
            request = replace(request, ranks=args.ranks or (request.hosts,))
            if uneven := [ranks for ranks in request.ranks if ranks % request.hosts]:
                raise WrongUse(f"--ranks {uneven[0]} cannot be spread evenly over {request.hosts} hosts")
        if self.name == "threads":
            request = bench_values.of_threads(request)
        elif getattr(args, "beside", None):
            request = replace(request, beside=(), neighbours=bench_values.loops(args.beside))
        if request.only:
            _check_names(request, module.names(request) if self.name == "threads" else module.names())
        return _run(module.prepared(request), args.output)

    def _measure_workload(self, args: argparse.Namespace, request: Request) -> tuple[Path, bool]:
        from tollbar.campaigns import work

        paper = args.compute == ("paper",)
        quick = args.effort == "quick"
        request = replace(
            request,
            workloads=(work.QUICK if quick else work.WORKLOADS) if paper else args.compute,
            as_printed=paper and self.name in ("udp", "nic") and not request.full,
        )
        return _run(work.prepared(self.name, request), args.output)


def _check_names(request: Request, names: Collection[str]) -> None:
    """Raises WrongUse for what cannot be measured, before anything is launched."""
    for name in request.only:
        plain = name.partition("+")[0]
        if name in names or plain in names:
            continue
        try:
            _plan_of(plain, request)
        except ValueError as error:
            known = [] if request.threads else arguments.CATALOGUE  # those are of one level
            near = difflib.get_close_matches(plain, [*names, *known], n=1)
            why = f"there is no such barrier; did you mean '{near[0]}'?" if near else str(error)
            raise WrongUse(f"{name}: {why}") from None


def _plan_of(name: str, request: Request) -> tollbar.Plan:
    """The plan between most of the ranks and their threads. Raises InvalidArgument where there is none."""
    if not request.threads:
        return tollbar.plan(name, max(request.ranks))
    inner, slash, outer = name.partition("/")
    if not slash:
        raise InvalidArgument("a barrier of two levels is spelled INNER/OUTER, as in turnstile/dissemination")
    threads = max(request.threads)
    return tollbar.plan(f"{inner}@{threads}/{outer}", max(request.ranks) * threads)


def _run(prepared: AbstractContextManager[tuple[Campaign, list[str]]], output: Path | None) -> tuple[Path, bool]:
    """Measures; gives the folder of the run, and whether any barrier let somebody leave early."""
    from tollbar.campaigns import passes
    from tollbar.campaigns.campaign import NotHere
    from tollbar.data import results
    from tollbar.machine import noise
    from tollbar.machine.failure import Failure
    from tollbar.machine.session import SessionEnded

    try:
        with prepared as (work, notes):
            if not work.situations:
                raise WrongUse("nothing is left to measure: no installed MPI can be measured with these --ranks")
            for line in noise.before(noise.look()):
                print(f"tollbar bench: {line}: times may be too long", file=sys.stderr)
            with MeasuringProgress(work.request.launches * len(work.situations)) as watcher:
                return finished(passes.measure(work, notes, output or results.folder(), watcher.report))
    except NotHere:
        raise
    except FileNotFoundError as error:
        if error.errno is not None:  # the operating system's, of a folder
            raise
        raise WrongUse(error) from None
    except (Failure, SessionEnded, InvalidArgument) as error:
        raise WrongUse(error) from None
    except BaseException as error:  # an interruption, which ends the command
        for note in getattr(error, "__notes__", ()):
            print(f"tollbar bench: {note}", file=sys.stderr)
        raise


BENCHES = {
    bench.name: bench
    for bench in (
        Bench(
            "threads",
            "barriers between threads, beside those of C++, pthreads, OpenMP, Boost and Concurrency Kit",
            "threads",
            ("--compute", "--beside", "--cpus", "--placement"),
        ),
        Bench(
            "mpi",
            "barriers between the ranks of an MPI, beside the MPI's own",
            "ranks",
            ("--compute", "--beside", "--mpi", "--hosts"),
        ),
        Bench(
            "hybrid",
            "barriers between threads inside ranks, beside what users write around MPI_Barrier",
            "ranks",
            ("--beside", "--mpi", "--threads", "--level"),
        ),
        Bench(
            "shmem",
            "split barriers between PEs of an OpenSHMEM, alone and in a sparse exchange of messages",
            "PEs",
            ("--compute", "--beside"),
        ),
        Bench(
            "udp",
            "barriers between hosts over UDP, beside an MPI over TCP; hosts are network namespaces",
            "hosts",
            ("--compute", "--beside"),
            most_ranks=MOST_HOSTS,
        ),
        Bench(
            "nic",
            "MPI_Barrier by the hosts' messages and on their network cards, and both without an MPI",
            "hosts",
            ("--compute", "--beside"),
            campaign="udp",
            most_ranks=MOST_HOSTS,
        ),
    )
}


def measure_beside(request: Request) -> Path:
    """A run of what `tollbar tune` has to know; its folder."""
    from tollbar.campaigns import threads

    return _run(threads.prepared(request, "tune"), None)[0]


def measure_briefly() -> Path:
    """A minute of threads at most, for whoever needs some run; its folder."""
    parser = argparse.ArgumentParser()
    BENCHES["threads"].add_parser(parser.add_subparsers())
    words = ["threads", "--effort", "quick"]
    return BENCHES["threads"].measure(parser.parse_args(words), "threads")[0]


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "bench", __doc__, "WHAT", BENCHES, "threads")

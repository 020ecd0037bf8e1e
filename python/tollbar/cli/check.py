# SPDX-License-Identifier: Apache-2.0
"""tollbar check: runs barriers, tollbar's or anybody's, and names the first rank that leaves too early."""

from __future__ import annotations

import argparse
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tollbar import environment
from tollbar.cli import arguments, ways
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.progress import track
from tollbar.cli.table import Table, column, describe_columns
from tollbar.machine import paths
from tollbar.machine.failure import Failure

if TYPE_CHECKING:
    from tollbar.campaigns import checks

_LATE = 1000  #: episodes in which one rank is late, at most
_STUCK_S = 10.0
_MOST_RANKS = 1024

_HOW = """
Each rank writes the episode's number before the barrier and reads everyone's after it: an older number means
that it has left too early. First one rank, in turn, is late in each of up to 1000 episodes, then all run
freely. Ranks that are stuck for TOLLBAR_TIMEOUT seconds (10) are given up. Other variables of tollbar and
LD_PRELOAD do not reach the ranks; those of MPI, OpenMP and OpenSHMEM do, as in programs of your own."""


@dataclass(frozen=True)
class Checked:
    of: str | None = column("the MPI, and the door of tollbar's through which it was reached")
    barrier: str = column("what was checked")
    wait: str | None = column("how its ranks wait, or signal, where that is not the default")
    ranks: int = column("how many took part; threads of ranks count")
    episodes: int = column("how many of them it has done")
    late: int = column("in how many of these one rank, in turn, was late")
    holds: bool = column("whether no rank left before all had arrived, and all could leave")
    seconds: float | None = column("how long that took; null when it failed")
    fault: str | None = column("the episode, who left early, and who had not arrived")


@dataclass(frozen=True)
class Way:
    """A kind of ranks that are checked, and which options only some kinds have."""

    name: str
    about: str
    ranks: str  #: what --ranks are
    usual: int
    episodes: int
    launches: str  #: by which function of tollbar.campaigns.checks
    others: tuple[str, ...] = ()  #: what may be named besides plans
    changed: tuple[str, ...] = ()  #: of these, what a preloaded library may change
    has_mpi: bool = False
    has_threads: bool = False

    def add_parser(self, commands: argparse._SubParsersAction) -> None:
        parser = commands.add_parser(
            self.name, help=self.about, description=f"Checks {self.about}.\n{_HOW}", epilog=describe_columns(Checked)
        )
        parser.add_argument(
            "barriers", nargs="*", type=self._named, metavar="PLAN|FILE" if self.loads else "PLAN", help=self._help()
        )
        parser.add_argument(
            "--ranks",
            type=_ranks,
            default=[range(self.usual, self.usual + 1)],
            metavar="P[,P...]",
            help=f"{self.ranks}; A..B too (default: {self.usual})",
        )
        parser.add_argument(
            "--episodes",
            type=arguments.number(int, 1),
            default=self.episodes,
            metavar="N",
            help="of each (default: %(default)s)",
        )
        if self.has_mpi:
            arguments.add_mpis(parser, "openmpi, mpich, impi, openmpi5, ... (default: one of each)")
        if self.has_threads:
            parser.add_argument(
                "--threads", type=arguments.number(int, 1), default=2, metavar="T", help="in each rank (default: 2)"
            )

    def _help(self) -> str:
        known = f"plans{', ' * bool(self.others)}{', '.join(self.others[:6])}"
        functions = "the functions of tollbar/toll.h" if self.name == "threads" else "the call"
        return f"{known} {f'or a library to preload, with {functions} ' * self.loads}(default: all)"

    @property
    def loads(self) -> bool:
        return bool(self.changed) or self.name == "threads"

    def _named(self, text: str) -> str | Path:
        if self.loads and (text.endswith(".so") or Path(text).is_file()):
            return Path(text)
        if text in self.others:
            return text
        try:
            arguments.plan(text.partition("+")[0], self.others)
        except argparse.ArgumentError:
            if not self._is_measured(text):
                raise
        return text

    def _is_measured(self, text: str) -> bool:
        """Whether the measuring program of threads has it besides."""
        from tollbar.campaigns import campaign, threads

        with contextlib.suppress(FileNotFoundError):
            return self.name == "threads" and text in campaign.listed(paths.program(threads.MAIN))
        return False

    def _names(self, barriers: list[str | Path]) -> tuple[list[str], Path | None]:
        """The barriers that are asked for, and the library to preload."""
        names = [barrier for barrier in barriers if isinstance(barrier, str)]
        files = [barrier for barrier in barriers if isinstance(barrier, Path)]
        if len(files) > 1:
            raise WrongUse(f"{files[1]}: one library can be preloaded at a time")
        for file in files:
            if not file.is_file():
                raise WrongUse(f"{file}: there is no such file")
            for name in names:
                if name not in self.changed:
                    which = f"; it may change {', '.join(self.changed)}" if self.changed else ""
                    raise WrongUse(f"{file}: a preloaded library does not change {name}{which}")
        if files and self.name != "threads":
            names = names or list(self.changed)
        return names, files[0] if files else None

    def run(self, args: argparse.Namespace) -> Table:
        from tollbar.campaigns import checks

        names, load = self._names(args.barriers)
        limit = environment.value("TOLLBAR_TIMEOUT")
        rows: list[Checked] = []
        notes: list[str] = []
        failed = False
        for ranks in arguments.sizes(args.ranks):
            request = checks.Request(
                ranks=ranks,
                episodes=args.episodes,
                stuck_s=float(limit or 0) or _STUCK_S,
                names=names,
                load=load,
                mpis=getattr(args, "mpi", ()),
                threads=getattr(args, "threads", 1),
            )
            try:
                with getattr(checks, self.launches)(request) as (launches, remarks):
                    notes += [note for note in remarks if note not in notes]
                    for launch in track(launches, f"checking {ranks} {self.ranks}"):
                        failed |= _check(rows, notes, launch, request)
            except (FileNotFoundError, Failure) as error:
                raise WrongUse(error) from None
        if not rows and not failed:
            raise CheckFailed(notes[0] if notes else "nothing was checked")
        return Table(rows, Checked, failed=failed, notes=notes)


def _check(rows: list[Checked], notes: list[str], launch: checks.Launch, request: checks.Request) -> bool:
    """Runs it, first with a late rank, and puts down what is seen. True when a barrier failed."""
    from tollbar.campaigns import checks

    late = checks.launched(launch.with_a_late_rank(min(_LATE, request.episodes)))
    passed = {(record["name"], record["wait"], record["ranks"]): record for record in late.passed}
    outcome = late if late.fault or late.trouble else checks.launched(launch)
    of = launch.of or None
    notes += [_note(of, record) for record in outcome.skipped if _note(of, record) not in notes]
    for record in outcome.passed:
        before = passed.get((record["name"], record["wait"], record["ranks"])) if outcome is not late else None
        elapsed_ns = record["elapsed_ns"] + (before["elapsed_ns"] if before else 0)
        waited = before["episodes"] if before else record["episodes"] if outcome is late else 0
        done = record["episodes"] + (before["episodes"] if before else 0)
        rows.append(_row(of, record, record["ranks"], done, waited, round(elapsed_ns / 1e9, 3), None))
    if fault := outcome.fault:
        words = checks.fault_in_words(fault, request.stuck_s)
        done = fault["episode"] - 1
        waited = done if outcome is late else min(_LATE, request.episodes)
        total = done if outcome is late else done + waited
        rows.append(_row(of, fault, request.ranks * request.threads, total, waited, None, words))
        where = f"{fault['name']}{f' of {of}' if of else ''} with {request.ranks} ranks"
        notes.append(f"{where} is no barrier: {words}")
        return True
    if outcome.trouble:
        raise CheckFailed(f"{f'{of}: ' if of else ''}{outcome.trouble}")
    return False


def _row(
    of: str | None,
    record: dict[str, Any],
    ranks: int,
    episodes: int,
    late: int,
    seconds: float | None,
    fault: str | None,
) -> Checked:
    wait = None if record["wait"] == "auto" else record["wait"]
    return Checked(of, record["name"], wait, ranks, episodes, late, fault is None, seconds, fault)


def _note(of: str | None, skipped: dict[str, Any]) -> str:
    return f"{skipped['name']}{f' of {of}' if of else ''} is not checked: {skipped['why']}"


def _ranks(text: str) -> list[range]:
    ranges = arguments.rank_counts(text)
    if any(sizes.start < 2 or sizes.stop > _MOST_RANKS + 1 for sizes in ranges):
        raise argparse.ArgumentTypeError(f"'{text}': 2 to {_MOST_RANKS} ranks can be checked")
    return ranges


WAYS = {
    way.name: way
    for way in (
        Way("threads", "barriers between the threads of a process", "threads", 5, 100_000, "of_threads",
            ("tollbar::barrier", "std::barrier", "pthread_barrier", "libgomp", "libomp"),
            ("pthread_barrier", "libgomp", "libomp")),
        Way("processes", "barriers between processes of one machine", "processes", 4, 100_000, "of_processes",
            ("pthread_barrier",), ("pthread_barrier",)),
        Way("mpi", "MPI_Barrier and MPI_Ibarrier, of the MPI itself and through tollbar's doors", "ranks", 4,
            100_000, "of_mpi", ("MPI_Barrier", "MPI_Ibarrier"), ("MPI_Barrier", "MPI_Ibarrier"),
            has_mpi=True),
        Way("hybrid", "barriers between threads inside ranks", "ranks", 2, 10_000, "of_hybrid",
            ("omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier"),
            ("omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier"),
            has_mpi=True, has_threads=True),
        Way("shmem", "split barriers of OpenSHMEM, and shmem_barrier_all", "PEs", 4, 10_000, "of_shmem",
            ("default", "one-shot", "counter", "shmem_barrier_all", "MPI_Ibarrier"),
            ("shmem_barrier_all", "MPI_Ibarrier")),
        Way("udp", "barriers by frames, between sockets of this machine", "ranks", 4, 10_000, "of_udp"),
        Way("nic", "barriers that network cards run, on hosts made of network namespaces", "hosts", 4, 10_000,
            "of_nic", ("card:pairwise", "card:dissemination", "card:gather", "card:switch")),
    )
}  # fmt: skip


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "check", __doc__, "WHAT", WAYS)

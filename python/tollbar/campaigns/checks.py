# SPDX-License-Identifier: Apache-2.0
"""The launches of `tollbar check`: the measuring programs, told to check tolls in place of measuring."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tollbar
from tollbar import children
from tollbar.campaigns import hybrid, mpi_settings, shmem, threads, udp
from tollbar.campaigns import mpi as mpi_campaign
from tollbar.machine import paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi

#: Without any names: what users have today, and every plan, waiting as it does by default.
_PLANS = tuple(plan.name for plan in tollbar.catalogue() if not plan.runs_on)
_MESSAGES = tuple(plan.name for plan in tollbar.catalogue() if not plan.runs_on and not plan.player)
_CARDS = ("card:pairwise", "card:dissemination", "card:gather", "card:switch")
_THREADS = ("tollbar::barrier", "std::barrier", "pthread_barrier")
_MPI = ("MPI_Barrier", "MPI_Ibarrier")
_SHMEM = ("default", "dissemination", "one-shot", "counter", "shmem_barrier_all")
LOADED = "loaded"
_STARTING_S = 180.0  #: for the first line of a program, which says where it runs


@dataclass(frozen=True)
class Request:
    """The barriers to check, and how."""

    ranks: int
    episodes: int
    stuck_s: float
    names: Sequence[str] = ()  #: of barriers; empty: those above
    load: Path | None = None  #: preloaded into the ranks
    mpis: Sequence[str] = ()
    threads: int = 1  #: in each rank

    def flags(self, usual: Sequence[str]) -> list[str]:
        flags = ["--check", str(self.episodes), "--stuck-ms", f"{1e3 * self.stuck_s:.0f}"]
        return [*flags, "--only", ",".join(self.names or usual)]


def once(names: Sequence[str]) -> tuple[str, ...]:
    """Plans wait as they do by default; else each would be checked with every way to wait."""
    return tuple(name if _is_no_plan(name) else f"{name}+auto" for name in names)


def _is_no_plan(name: str) -> bool:
    return "+" in name or (not name.startswith("card:") and re.split("[:@/]", name)[0] not in _PLANS)


@dataclass(frozen=True)
class Launch:
    """One program to be run."""

    of: str  #: which MPI, through which door; empty where there is but one
    command: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)

    def with_a_late_rank(self, episodes: int) -> Launch:
        """The same with so many episodes, in each of which one rank, in turn, enters after all others."""
        words = list(self.command)
        words[words.index("--check") + 1] = str(episodes)
        return replace(self, command=[*words, "--late"])


@dataclass(frozen=True)
class Outcome:
    """The end of one launch, and what it said."""

    launch: Launch
    records: Sequence[dict[str, Any]]
    trouble: str  #: why it ended otherwise than well, and no record says why

    @property
    def passed(self) -> list[dict[str, Any]]:
        return [record for record in self.records if record["record"] == "toll"]

    @property
    def fault(self) -> dict[str, Any] | None:
        return next((record for record in self.records if record["record"] in ("violation", "stuck")), None)

    @property
    def skipped(self) -> list[dict[str, Any]]:
        return [record for record in self.records if record["record"] == "skipped"]


def launched(launch: Launch) -> Outcome:
    """Runs it to its end. It ends by itself: ranks that are stuck are its business, once they have started."""
    variables = {**environment(), **launch.environment}
    done = children.run(launch.command, environment=variables, silent_s=_STARTING_S)
    records = [json.loads(line) for line in done.output.splitlines() if line.startswith('{"record"')]
    outcome = Outcome(launch, records, "")
    if done.exit_code == 0 or outcome.fault:
        return outcome
    if done.exit_code is None:
        return Outcome(launch, records, f"its ranks have not started within {_STARTING_S:g} s")
    lines = [line for line in done.errors.splitlines() if line.strip(" -*")]
    return Outcome(launch, records, lines[0].strip() if lines else f"it ended with status {done.exit_code}")


def fault_in_words(fault: dict[str, Any], stuck_s: float) -> str:
    """The episode, who left early, and who had not arrived."""
    if fault["record"] == "violation":
        early = f"rank {fault['left']} left before rank {fault['missing']} had arrived"
        return f"episode {fault['episode']}: {early}"
    arrived, missing = fault.get("waiting"), fault.get("missing")
    after = f"episode {fault['episode']}: nobody has arrived or left for {stuck_s:g} s; "
    if not missing:
        return after + f"all ranks have arrived, and {_ranks(arrived)} cannot leave"
    return after + f"{_ranks(missing)} {_have(missing)} not arrived; {_ranks(arrived)} {_have(arrived)}"


def _ranks(listed: str | None) -> str:
    if not listed:
        return "nobody else"
    return ("ranks " if "," in listed else "rank ") + listed.replace(",", ", ")


def _have(listed: str | None) -> str:
    return "have" if listed and "," in listed else "has"


@contextlib.contextmanager
def of_threads(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    own = once([name for name in request.names if name not in threads.PEERS.values()])
    usual = (LOADED,) if request.load else once((*_THREADS, *_PLANS))
    ranks = ["--ranks", str(request.ranks)]
    launches, notes = [], []
    if own or not request.names:
        flags = replace(request, names=own).flags(usual)
        launches.append(Launch("", [str(paths.program(threads.MAIN)), *ranks, *flags], _preloaded(request)))
    for name, runtime in threads.PEERS.items():
        if runtime not in request.names and (request.names or request.load):
            continue
        try:
            flags = replace(request, names=(runtime,)).flags(())
            launches.append(Launch("", [str(paths.program(name)), *ranks, *flags], _preloaded(request)))
        except FileNotFoundError as error:
            notes.append(f"{runtime} is not checked: {error}")
    yield launches, notes


@contextlib.contextmanager
def of_processes(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    words = [str(paths.program("tollbar-bench-processes")), "--ranks", str(request.ranks)]
    flags = replace(request, names=once(request.names)).flags(once(("pthread_barrier", *_PLANS)))
    yield [Launch("", [*words, *flags], _preloaded(request))], []


@contextlib.contextmanager
def of_mpi(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    """MPI_Barrier and MPI_Ibarrier as each MPI has them, and through each door of tollbar's."""
    launches: list[Launch] = []
    known, notes = _programs(request, "bench-mpi")
    calls = tuple(name for name in request.names if name in _MPI)
    for mpi, program in known.items():
        doors, missing = mpi_settings.door_settings(mpi)
        notes += missing
        crowded = mpi.family == "mpich" and request.ranks > _cpus() and not request.names and not request.load
        if crowded:
            notes.append(
                f"the own barriers of {mpi.name} are not checked: its ranks never give their processors "
                "away, and there are more ranks than processors; it is checked by its name all the same"
            )
        else:
            variables = _preloaded(request)
            launches.append(Launch(mpi.name, _ranks_of(mpi, request, variables, program, request.flags(_MPI))))
        if request.load or (request.names and not calls):
            continue  # a plan is the same whatever stands before MPI_Barrier
        for door in doors:
            flags = replace(request, names=calls).flags(_MPI[:1] if crowded else _MPI)
            words = _ranks_of(mpi, request, door.variables, program, flags)
            launches.append(Launch(f"{mpi.name}, {door.name}", words))
    yield launches, notes


@contextlib.contextmanager
def of_hybrid(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    launches: list[Launch] = []
    known, notes = _programs(request, "bench-hybrid")
    usual: tuple[str, ...] = (*hybrid.PEERS, *hybrid.FEW)
    if request.ranks * request.threads > _cpus():
        usual = hybrid.FEW
        notes.append(
            f"{' and '.join(hybrid.PEERS)} are not checked: with fewer processors than threads they take "
            "a time slice an episode; by their names they are checked all the same"
        )
    for mpi, program in known.items():
        flags = ["--threads", str(request.threads), *request.flags(usual)]
        launches.append(Launch(mpi.name, _ranks_of(mpi, request, _preloaded(request), program, flags)))
    yield launches, [] if request.names else notes


@contextlib.contextmanager
def of_shmem(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    if why := shmem.why_not():
        raise FileNotFoundError(why)
    words = [*shmem.launcher(request.ranks), *_in_ranks(_preloaded(request))]
    words.append(str(paths.program(shmem.PROGRAMS["barriers"])))
    yield [Launch("", [*words, *request.flags(_SHMEM)])], []


@contextlib.contextmanager
def of_udp(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    words = udp.program_words(Hosts(1), request.ranks, False)
    flags = replace(request, names=once(request.names)).flags(once(_MESSAGES))
    yield [Launch("", [*words, *flags], _preloaded(request))], []


@contextlib.contextmanager
def of_nic(request: Request) -> Iterator[tuple[list[Launch], list[str]]]:
    """Cards need hosts: network namespaces, which need root and a checkout."""
    with Hosts(request.ranks) as hosts:
        words = udp.program_words(hosts, request.ranks, True)
        flags = replace(request, names=once(request.names)).flags(once(_CARDS))
        yield [Launch("", [*words, *flags], _preloaded(request))], []


def _programs(request: Request, kind: str) -> tuple[Mapping[Mpi, Path], list[str]]:
    """The program of each MPI, and a note for one without."""
    return mpi_settings.programs(mpi_campaign.chosen(request.mpis, False), kind, "checked")


def _ranks_of(
    mpi: Mpi, request: Request, variables: Mapping[str, str], program: Path, flags: Sequence[str]
) -> list[str]:
    """The launcher itself must not load what its ranks are to load."""
    return [*mpi_settings.job(mpi, request.ranks), *_in_ranks(variables), str(program), *flags]


def _in_ranks(variables: Mapping[str, str]) -> list[str]:
    return ["env", *(f"{name}={value}" for name, value in variables.items())]


def _cpus() -> int:
    return len(os.sched_getaffinity(0))


def _preloaded(request: Request) -> dict[str, str]:
    return {"LD_PRELOAD": str(request.load.resolve())} if request.load else {}


def environment() -> dict[str, str]:
    """The variables of this process; what steers tollbar or is preloaded is named by arguments instead."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("TOLLBAR_", "LD_PRELOAD"))}

# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench hybrid`: threads inside the ranks of an MPI job, on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings
from tollbar.campaigns.campaign import Campaign, Request
from tollbar.machine.mpis import Mpi

#: Barriers that users write themselves.
PEERS = ("omp barrier around MPI_Barrier", "pthread_barrier around MPI_Barrier")
#: Without --effort full: the two that the paper names, the same among words only, and trees at both levels.
FEW = ("turnstile/dissemination", "turnstile/mcs", "turnstile/turnstile", "mcs/mcs")
#: MPICH's ranks spin: with more than that it takes seconds to have anything measured.
MOST_SPINNING = 4


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    mpi: Mpi
    ranks: int
    threads: int


def names() -> tuple[str, ...]:
    """The barriers that can be measured, besides every plan."""
    return PEERS


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Threads, list[str]]]:
    """The work, and a note for each MPI that cannot be had. Raises FileNotFoundError when none can."""
    # MPIs that come as wheels have no such program.
    there = mpi_campaign.chosen(request.mpis, True)
    wanted = [mpi for mpi in there if request.mpis or (mpi.family != "impi" and mpi.major < 5)]
    known, notes = mpi_settings.programs(wanted, "bench-hybrid")
    mpi_settings.some(known, notes)
    yield Threads(request, known), notes


class Threads(Campaign):
    """Threads inside the ranks of a job."""

    kind = "hybrid"

    def __init__(self, request: Request, programs: Mapping[Mpi, Path]) -> None:
        super().__init__(request)
        self._programs = programs

    @property
    def situations(self) -> list[Where]:
        return [
            Where(mpi, ranks, threads)
            for mpi in self._programs
            for ranks in self.request.ranks
            for threads in self.request.threads
            if mpi.family == "openmpi" or bool(self.request.mpis) or max(ranks, threads) <= MOST_SPINNING
        ]

    def facts(self) -> dict[str, Any]:
        return {
            "threads": list(self.request.threads),
            "mpis": {mpi.name: str(mpi.launcher) for mpi in self._programs},
            "level": self.request.level,
        }

    def say(self, situation: Where) -> str:
        return f"{situation.mpi.name}, {situation.ranks} ranks of {situation.threads} threads"

    def programs(self, situation: Where) -> list[str]:
        return [f"{situation.mpi.key}.threads"]

    def command(self, program: str, situation: Where, rounds: int, seed: int) -> list[str]:
        command = [*mpi_settings.job(situation.mpi, situation.ranks), str(self._programs[situation.mpi])]
        command += ["--threads", str(situation.threads), "--level", self.request.level]
        command += ["--rounds", str(rounds), "--seed", str(seed), "--placement", "free"]
        command += self.counted()
        if not self.request.full:
            command += ["--only", ",".join([*PEERS, *(self.request.only or FEW)])]
        return command

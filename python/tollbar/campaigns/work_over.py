# SPDX-License-Identifier: Apache-2.0
"""The ground of the barriers of `tollbar bench --compute`: threads, an MPI job, PEs, hosts.

A transport plugs in with a program on the measuring engine (bench/engine), which then takes --workload, and with
the words that start it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tollbar.campaigns import mpi_settings, shmem, udp
from tollbar.campaigns.mpi_settings import STOCK, Setting
from tollbar.machine import paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi

#: An MPI's barriers over TCP: as it comes, and the one that is the paper's exchange.
OF_MPI = (STOCK, "recursive doubling")


@dataclass(frozen=True)
class Over:
    """The ground that barriers run over. Barriers over ground of the same name are measured side by side."""

    name: str
    program: str  #: what its launches are stored under
    usual: Sequence[str]  #: the barriers that are measured where nobody names any
    command: Callable[[int], list[str]]  #: starts the measuring program with so many ranks
    placement: Callable[[int], str]  #: where so many ranks are put, unless that is asked for
    takes_names: bool = True


def of_mpi(mpi: Mpi, program: Path) -> Over:
    """Ranks are the processes of a job on this machine."""
    usual = ("MPI_Barrier", "dissemination+messages", "dissemination+auto")
    name = mpi.name.replace(" ", "-")
    return Over(mpi.name, name, usual, lambda ranks: [*mpi_settings.job(mpi, ranks), str(program)], lambda _: "free")


def of_pes() -> Over:
    """Ranks are the PEs of an OpenSHMEM on this machine. Ask shmem.why_not() before."""
    # Parts that only the plain measurement has take a while.
    program = [str(paths.program(shmem.PROGRAMS["barriers"])), "--away-ms", "0", "--skew-us", "0"]
    usual = ("default", "dissemination+puts", "shmem_barrier_all", "MPI_Ibarrier")

    def command(ranks: int) -> list[str]:
        return [*shmem.launcher(ranks), *program]

    return Over("shmem", "shmem", usual, command, lambda ranks: "pinned" if ranks <= 2 else "free")


def of_hosts(hosts: Hosts, nics: bool, mpi: tuple[Mpi, Path] | None, own: Sequence[str] = OF_MPI) -> list[Over]:
    """A rank on each host, and the MPI that is there in these settings of its own; with NICs, both on them too.

    Hosts share this machine's processors: above their number, a host that computes is away.
    """
    name = "hosts" if hosts.count > 1 else "loopback"

    def computing(ranks: int) -> list[str]:
        return ["--computing", "busy" if ranks <= len(os.sched_getaffinity(0)) else "away"]

    def tcp(setting: Setting, mpi: Mpi, program: Path) -> Over:
        """The ranks call MPI_Barrier, whoever carries it."""

        def command(ranks: int) -> list[str]:
            return [*udp.mpi_words(hosts, mpi, program, setting, ranks), *computing(ranks)]

        stored = f"mpi.{setting.name.replace(' ', '-')}"
        return Over(name, stored, ("MPI_Barrier",), command, udp.placement, takes_names=False)

    paths.program(udp.PROGRAM)
    usual = udp.PAPER + (udp.PAPER_CARDS if nics else ())
    frames = Over(
        name, "udp", usual, lambda ranks: [*udp.program_words(hosts, ranks, nics), *computing(ranks)], udp.placement
    )
    if not mpi:
        return [frames]
    settings = [setting for setting in mpi_settings.own_settings(mpi[0]) if setting.name in own]
    settings += udp.mpi_doors(hosts, mpi[0]) if nics else []
    return [frames, *(tcp(setting, *mpi) for setting in settings)]

# SPDX-License-Identifier: Apache-2.0
"""What the barriers of `tollbar bench --workload` run over: threads, an MPI job, PEs, hosts.

A transport plugs in with a program on the measuring engine (bench/threads/rounds.hpp), which then takes
--workload, and with the words that start it: a class with the members of Over.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tollbar.campaigns import mpi_settings, mpi_tuning
from tollbar.campaigns import shmem as shmem_campaign
from tollbar.campaigns import threads as campaign
from tollbar.campaigns import udp as udp_campaign
from tollbar.campaigns.mpi_settings import STOCK, Setting
from tollbar.machine import paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi

#: Of an MPI's barriers over TCP: as it comes, and the one that is the paper's exchange.
OF_MPI = (STOCK, "recursive doubling")


class Over(Protocol):
    """What the barriers run over. What has the same name is measured side by side."""

    name: str
    program: str  #: what its launches are stored under

    def placements(self, ranks: int) -> tuple[str, ...]:
        """Where ranks are put unless that is asked for."""

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        """What is measured where somebody names barriers, or nobody does."""

    def command(self, ranks: int) -> list[str]:
        """Starts the measuring program with so many ranks."""


class OverThreads:
    """Ranks are threads of one process."""

    name = program = "threads"
    _usual = ("tollbar::barrier", "dissemination+auto", "std::barrier", "pthread_barrier")

    def __init__(self) -> None:
        self._program = paths.program(campaign.MAIN)

    def placements(self, ranks: int) -> tuple[str, ...]:
        return ("pinned",)

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        return asked or self._usual

    def command(self, ranks: int) -> list[str]:
        return [str(self._program), "--ranks", str(ranks)]


class OverMpi:
    """Ranks are the processes of a job on this machine."""

    _usual = ("MPI_Barrier", "dissemination+messages", "dissemination+auto")

    def __init__(self, mpi: Mpi) -> None:
        self.name = mpi.name
        self.program = mpi.name.replace(" ", "-")
        self._mpi = mpi
        self._program = paths.program(mpi_settings.program_of(mpi))

    def placements(self, ranks: int) -> tuple[str, ...]:
        return ("free",)

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        return asked or self._usual

    def command(self, ranks: int) -> list[str]:
        return [*mpi_tuning.launcher(self._mpi, ranks), str(self._program)]


class OverPes:
    """Ranks are the PEs of an OpenSHMEM on this machine. Ask shmem_campaign.why_not() before."""

    name = program = "shmem"
    _usual = ("default", "dissemination+puts", "shmem_barrier_all", "MPI_Ibarrier")

    def __init__(self) -> None:
        self._program = paths.program(shmem_campaign.PROGRAMS["barriers"])

    def placements(self, ranks: int) -> tuple[str, ...]:
        return ("pinned" if ranks <= 2 else "free",)

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        return asked or self._usual

    def command(self, ranks: int) -> list[str]:
        # What only the plain measurement has takes a while.
        return [*shmem_campaign.launcher(ranks), str(self._program), "--away-ms", "0", "--skew-us", "0"]


class OverHosts:
    """A rank on each host; they share this machine's processors, so above these a host is away to compute."""

    program = "udp"

    def __init__(self, hosts: Hosts, nics: bool) -> None:
        self.name = _name(hosts)
        self._hosts, self._nics = hosts, nics
        self._program = paths.program(udp_campaign.PROGRAM)

    def placements(self, ranks: int) -> tuple[str, ...]:
        return (udp_campaign.placement(ranks),)

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        return asked or udp_campaign.PAPER + (udp_campaign.PAPER_CARDS if self._nics else ())

    def command(self, ranks: int) -> list[str]:
        words = udp_campaign.program_words(self._hosts, ranks, self._nics)
        return [*words, "--computing", _computing(ranks)]


class OverTcp:
    """An MPI's ranks on the same hosts: they call MPI_Barrier, whoever carries it."""

    def __init__(self, hosts: Hosts, mpi: Mpi, setting: Setting) -> None:
        self.name = _name(hosts)
        self.program = f"mpi.{setting.name.replace(' ', '-')}"
        self._hosts, self._mpi, self._setting = hosts, mpi, setting
        self._program = paths.program(mpi_settings.program_of(mpi))

    def placements(self, ranks: int) -> tuple[str, ...]:
        return (udp_campaign.placement(ranks),)

    def only(self, asked: Sequence[str]) -> Sequence[str]:
        return ("MPI_Barrier",)

    def command(self, ranks: int) -> list[str]:
        words = udp_campaign.mpi_words(self._hosts, self._mpi, self._program, self._setting, ranks)
        return [*words, "--computing", _computing(ranks)]


def _name(hosts: Hosts) -> str:
    return "hosts" if hosts.count > 1 else "loopback"


def _computing(ranks: int) -> str:
    return "busy" if ranks <= len(os.sched_getaffinity(0)) else "away"


def over_hosts(hosts: Hosts, nics: bool, mpi: tuple[Mpi, Path] | None, own: Sequence[str] = OF_MPI) -> list[Over]:
    """Hosts, and the MPI that is there in these settings of its own; with NICs, both on them too."""
    found: list[Over] = [OverHosts(hosts, nics)]
    if mpi:
        settings = [each for each in mpi_settings.own_settings(mpi[0]) if each.name in own]
        settings += udp_campaign.mpi_doors(hosts, mpi[0]) if nics else []
        found += [OverTcp(hosts, mpi[0], setting) for setting in settings]
    return found

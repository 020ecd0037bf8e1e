# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench udp` and `nic`: barriers between hosts, and an MPI's over TCP beside them.

Hosts are network namespaces; where those cannot be had, all ranks are on the loopback, which is said.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings
from tollbar.campaigns.campaign import Campaign, Request, Start, listed
from tollbar.campaigns.mpi_settings import ON_CARDS, STOCK, Setting
from tollbar.machine import nic_daemons, paths
from tollbar.machine.failure import Failure
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi

PROGRAM = "tollbar-bench-udp"
#: Without --effort full: the paper's plan, its rival and two trees; with a processor for each rank also busy.
FEW = ("pairwise+auto", "dissemination+auto", "mcs+auto", "central+auto", "pairwise+park")
SPINNING = ("pairwise+spin", "dissemination+spin")
#: Beside them, where NICs are measured.
CARDS = ("card:pairwise+auto", "card:gather+auto", "card:switch+auto", "card:pairwise+park")
SPINNING_CARDS = ("card:pairwise+spin",)
#: The plans that the paper compares below MPI, and what it does not have: a count in the switch.
PAPER = ("pairwise+auto",)
PAPER_CARDS = ("card:pairwise+auto", "card:switch+auto")
#: Without --effort full: the MPI as it comes, and the settings that are the best somewhere.
FEW_SETTINGS = (STOCK, "recursive doubling", "bruck", "two-proc")

_FULL_LIMIT_S = 600
#: By TCP, as between hosts, where all ranks are on this machine.
_TCP = ("--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "mpi_yield_when_idle", "1")


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    ranks: int
    placement: str


def names() -> set[str]:
    """The barriers that can be measured, besides every plan."""
    return listed(paths.program(PROGRAM), "--ranks", "2", "--cards", "yes")


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Datagrams, list[str]]]:
    """The work, with its hosts for as long as it takes, and a note for each thing that cannot be had.

    Raises FileNotFoundError when the program is not there.
    """
    paths.program(PROGRAM)
    mpi, why = open_mpi()
    with on_hosts(max(request.ranks)) as (hosts, notes):
        yield Datagrams(request, hosts, mpi), notes + ([why] if why else [])


@contextlib.contextmanager
def on_hosts(count: int) -> Iterator[tuple[Hosts, list[str]]]:
    """So many hosts for as long as it takes; where they cannot be made, this one and a note that says so."""
    with contextlib.ExitStack() as stack:
        try:
            hosts, notes = stack.enter_context(Hosts(count)), []
        except (FileNotFoundError, Failure) as error:
            hosts, notes = Hosts(1), [f"all ranks are on the loopback, not on hosts of their own: {error}"]
        yield hosts, notes


def open_mpi() -> tuple[tuple[Mpi, Path] | None, str]:
    """Open MPI with the program that runs under it, or why there is none."""
    try:
        known = mpi_settings.programs(mpi_campaign.chosen(("openmpi",), False)[:1])
        return next(iter(mpi_settings.some(*known).items())), ""
    except FileNotFoundError as error:
        return None, f"no MPI is measured beside: {error}"


def placement(ranks: int) -> str:
    """The placement of the ranks of hosts, which share this machine's processors."""
    return "pinned" if ranks <= len(os.sched_getaffinity(0)) else "free"


def program_words(hosts: Hosts, ranks: int, nics: bool) -> list[str]:
    """Starts the measuring program with a rank on each of so many hosts."""
    command = [str(paths.program(PROGRAM)), "--ranks", str(ranks)]
    if addresses := hosts.addresses():
        command += ["--hosts", ",".join(f"{name}={address}" for name, address in addresses.items())]
    return [*command, "--cards", "yes"] if nics else command


def mpi_words(hosts: Hosts, mpi: Mpi, measuring: Path, setting: Setting, ranks: int) -> list[str]:
    """Starts the MPI's measuring program on the same hosts, over TCP."""
    options = hosts.options(mpi, 1)
    if options:
        # It starts a daemon on each host that it is told of, which takes it long.
        hosts_at = options.index("--host") + 1
        options[hosts_at] = ",".join(options[hosts_at].split(",")[:ranks])
    else:
        options = [*mpi_settings.anywhere(), *_TCP]
    on_cards = setting.name in ON_CARDS
    words = [str(mpi.launcher), *options, "-n", str(ranks), "env"]
    words += [f"{name}={value}" for name, value in setting.variables.items()]
    words += [*(nic_daemons.OWN_NIC if on_cards else ()), str(measuring), "--setting", setting.name]
    words += ["--late-ms", "0", "--communicators", "0"]
    return nic_daemons.words(list(hosts.addresses())[:ranks], words) if on_cards else words


def mpi_doors(hosts: Hosts, mpi: Mpi) -> list[Setting]:
    """The MPI with a door of tollbar's and the paper's plan, by messages (HB) and on the NICs (NB).

    The door is the component, else the preload. Nothing without hosts.
    """
    doors = mpi_settings.door_settings(mpi)[0][:1] if hosts.count > 1 else []
    same = [Setting(door.name, {**door.variables, "TOLLBAR_PLAN": "turnstile/pairwise"}) for door in doors]
    return mpi_settings.by_messages(same) + mpi_settings.on_cards(same)


class Datagrams(Campaign):
    """A rank on each host, and an MPI on the same hosts."""

    kind = "udp"

    def __init__(self, request: Request, hosts: Hosts, mpi: tuple[Mpi, Path] | None) -> None:
        super().__init__(request)
        self._hosts, self._mpi = hosts, mpi
        doors = mpi_doors(hosts, mpi[0]) if mpi and request.nics else []
        self._doors = doors + mpi_settings.by_choice(doors[1:])  # on the NICs, with the plan that it chooses

    @property
    def situations(self) -> list[Where]:
        return [Where(ranks, placement(ranks)) for ranks in self.request.ranks]

    def facts(self) -> dict[str, Any]:
        return {
            "network": "namespaces" if self._hosts.count > 1 else "loopback",
            "mpis": {self._mpi[0].name: str(self._mpi[0].launcher)} if self._mpi else {},
            "batch_us": self.request.batch_us,
        }

    def say(self, situation: Where) -> str:
        hosts = "hosts" if self._hosts.count > 1 else "ranks on the loopback"
        return f"{situation.ranks} {hosts}"

    def programs(self, situation: Where) -> list[str]:
        return ["udp", *(f"mpi.{setting.name.replace(' ', '-')}" for setting in self._settings_in(situation))]

    def _settings_in(self, situation: Where) -> list[Setting]:
        if not self._mpi:
            return []
        own = [setting for setting in mpi_settings.own_settings(self._mpi[0]) if setting.suits(situation.ranks)]
        if self.request.full:
            own = [setting for setting in own if not setting.name.startswith("coll/")]  # those need memory in common
        else:
            own = [setting for setting in own if setting.name in FEW_SETTINGS]
        return own + self._doors

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        flags = ["--rounds", str(rounds), "--seed", str(seed), "--placement", situation.placement]
        flags += ["--batch-us", str(self.request.batch_us), *self.counted()]
        command = self._udp(situation) if program == "udp" else self._of_mpi(program, situation)
        limit_s = _FULL_LIMIT_S if self.request.full else self.limit_s
        return Start([*command, *flags], self.environment(), limit_s)

    def _udp(self, situation: Where) -> list[str]:
        command = program_words(self._hosts, situation.ranks, self.request.nics)
        only = self.request.only or (() if self.request.full else self._few(situation))
        return [*command, "--only", ",".join(only)] if only else command

    def _few(self, situation: Where) -> tuple[str, ...]:
        spinning = situation.placement == "pinned"
        hosts = FEW + SPINNING if spinning else FEW
        if not self.request.nics:
            return hosts
        return hosts + CARDS + SPINNING_CARDS if spinning else hosts + CARDS

    def _of_mpi(self, program: str, situation: Where) -> list[str]:
        assert self._mpi
        settings = {f"mpi.{setting.name.replace(' ', '-')}": setting for setting in self._settings_in(situation)}
        words = mpi_words(self._hosts, *self._mpi, settings[program], situation.ranks)
        return [*words, "--only", "MPI_Barrier"]

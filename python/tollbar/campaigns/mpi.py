# SPDX-License-Identifier: Apache-2.0
"""The measures of `tollbar bench mpi`: which MPIs, in which settings, with how many ranks, how far apart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tollbar.campaigns import mpi_settings
from tollbar.campaigns.campaign import Campaign, Request, Start
from tollbar.campaigns.mpi_settings import BASIC, COMPONENT, DOORS, ON_CARDS, PRELOAD, STOCK, WATCHED, Setting
from tollbar.machine import mpi_hosts, mpis, nic_daemons, paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi
from tollbar.machine.session import Session

#: Without --effort full: the settings and plans that the targets are about, and what is closest to them.
FEW_SETTINGS = (STOCK, "linear", BASIC, *DOORS, *ON_CARDS)
CALLS = ("MPI_Barrier", "MPI_Ibarrier")
FEW_PLANS = ("dissemination", "mcs", "central+messages", "dissemination+messages")
#: Other MPIs than Open MPI are measured with these, unless they were asked for.
OTHERS_RANKS = (4, 8, 16)
#: MPICH's ranks spin: with more than that it takes seconds to have anything measured.
MOST_SPINNING = 16
APART_RANKS = (4, 8)
LATE_RANKS = 4
SET_UP_RANKS = 8

_LONG_BATCH_US = 40_000  # where a turn may last a time slice
_LIMIT_S, _LIMIT_OF_FULL_S = 40, 110


class Where(NamedTuple):
    """A situation: launches in it follow each other at once."""

    mpi: Mpi
    ranks: int
    hosts: int = 1
    apart: str = "launcher"

    @property
    def placement(self) -> str:
        return "pinned" if self.ranks <= 2 and self.hosts == 1 else "free"


def chosen(wanted: Sequence[str], full: bool) -> list[Mpi]:
    """The installed MPIs that were asked for; else one of each family, or with `full` all.

    Raises FileNotFoundError that says which there are.
    """
    there = sorted(mpis.named(wanted), key=lambda mpi: (mpi.family != "openmpi", mpi.family, mpi.major))
    if wanted or full:
        return there
    return list({mpi.family: mpi for mpi in reversed(there)}.values())[::-1]


@contextlib.contextmanager
def prepared(request: Request) -> Iterator[tuple[Mpis, list[str]]]:
    """The work, with its hosts for as long as it takes, and a note for each thing that cannot be had.

    Raises FileNotFoundError when there is nothing to measure with, RuntimeError when there can be no hosts.
    """
    known: dict[Mpi, list[Setting]] = {}
    runnable, notes = mpi_settings.programs(chosen(request.mpis, request.full))
    mpi_settings.some(runnable, notes)
    why_no_nics = _why_no_nics()
    if request.hosts > 1 and why_no_nics:
        notes.append(f"ranks that meet on their hosts' NICs are not measured: {why_no_nics}")
    for mpi in runnable:
        own = mpi_settings.own_settings(mpi) + mpi_settings.watched(mpi)
        doors, missing = mpi_settings.door_settings(mpi)
        notes += missing
        if request.hosts > 1 and why_no_nics is None:
            doors += mpi_settings.on_cards(doors)
        known[mpi] = own + doors
    why = mpi_hosts.why_no_groups()
    if why and request.hosts == 1:
        notes.append(f"ranks with a control group each are not measured: {why}")
    work = Mpis(request, known, runnable, groups=why is None)
    with work.hosts:
        yield work, notes


def names() -> set[str]:
    """The settings, doors and barriers that can be measured, besides every plan."""
    settings = {setting.name for mpi in mpis.installed() for setting in mpi_settings.own_settings(mpi)}
    settings |= {*DOORS, *ON_CARDS, *WATCHED}
    return settings | {*CALLS} | {f"{call} [{setting}]" for call in CALLS for setting in settings - {STOCK}}


def _why_no_nics() -> str | None:
    """Why the hosts cannot have NIC daemons; None when they can."""
    try:
        paths.program(nic_daemons.DAEMON)
    except FileNotFoundError as error:
        return str(error)
    return None


class Mpis(Campaign):
    """Ranks of the MPIs that are here, in each of their settings."""

    kind = "mpi"
    pair = ("PMPI_Barrier", "MPI_Barrier")  # with the preload, in one process

    def __init__(
        self, request: Request, known: Mapping[Mpi, Sequence[Setting]], runnable: Mapping[Mpi, Path], groups: bool
    ) -> None:
        super().__init__(request)
        self._known, self._runnable, self._groups = known, runnable, groups
        self.hosts = Hosts(request.hosts)
        self._session_nice = 0

    @property
    def situations(self) -> list[Where]:
        together = [
            Where(mpi, ranks, self.request.hosts)
            for mpi in self._known
            for ranks in self.request.ranks
            if self._suits(mpi, ranks)
        ]
        apart = [
            Where(mpi, ranks, 1, "cgroups")
            for mpi in self._known
            for ranks in APART_RANKS
            if self._groups
            and not self.request.short
            and mpi.family == "openmpi"
            and self.request.hosts == 1
            and ranks in self.request.ranks
        ]
        return [where for where in together + apart if self.programs(where)]

    def _suits(self, mpi: Mpi, ranks: int) -> bool:
        if ranks % self.request.hosts or mpi.family == "openmpi":
            return ranks % self.request.hosts == 0
        crowd = ranks <= MOST_SPINNING or mpi.family == "impi"
        every = self.request.full or self.request.short or bool(self.request.mpis)
        return crowd and (every or ranks in OTHERS_RANKS)

    def facts(self) -> dict[str, Any]:
        return {"mpis": {mpi.name: str(mpi.launcher) for mpi in self._known}, "hosts": self.request.hosts}

    def say(self, situation: Where) -> str:
        hosts = f" on {situation.hosts} hosts" if situation.hosts > 1 else ""
        apart = ", a control group each" if situation.apart == "cgroups" else ""
        return f"{situation.mpi.name}, {situation.ranks} ranks{hosts}{apart}"

    def programs(self, situation: Where) -> list[str]:
        return [self._stored_name(situation.mpi, setting) for setting in self._settings_in(situation)]

    def _settings_in(self, where: Where) -> list[Setting]:
        settings = [setting for setting in self._known[where.mpi] if setting.suits(where.ranks)]
        if self.request.short and not self.request.only:
            return [setting for setting in settings if setting.name == PRELOAD] or settings[:1]
        if self.request.only:
            named = {STOCK, *(name.partition(" [")[2].removesuffix("]") or name for name in self.request.only)}
            if "MPI_Barrier" in self.request.only:
                named |= set(DOORS)
            elif "MPI_Ibarrier" in self.request.only:
                named.add(COMPONENT)  # with the preload it is the MPI's own
            settings = [setting for setting in settings if setting.name in named]
        elif not self.request.full:
            settings = [setting for setting in settings if setting.name in FEW_SETTINGS]
            if where.mpi.family == "mpich" and PRELOAD in (setting.name for setting in settings):
                # The preload has the MPI's own beside it.
                settings = [setting for setting in settings if setting.name in (PRELOAD, *ON_CARDS)]
        if where.apart == "cgroups" and not self.request.full:
            doors = [setting for setting in settings if setting.name in DOORS]
            return doors[:1] or settings[:1]
        return settings

    @staticmethod
    def _stored_name(mpi: Mpi, setting: Setting) -> str:
        return f"{mpi.key}.{setting.name.replace('/', '-').replace(' ', '-')}"

    def prepare(self, folder: Path, session: Session) -> None:
        super().prepare(folder, session)
        self._session_nice = -20 if "nice -20" in session.autogroup else 0

    def start(self, program: str, situation: Where, rounds: int, seed: int) -> Start:
        settings = self._settings_in(situation)
        setting = next(one for one in settings if self._stored_name(situation.mpi, one) == program)
        variables = {**setting.variables, "TOLLBAR_TUNING": str(self.tuning)}
        flags = ["--rounds", str(rounds), "--seed", str(seed), "--placement", situation.placement]
        flags += ["--setting", setting.name, "--session-nice", str(self._session_nice)]
        flags += ["--apart", situation.apart, *self._extent(situation, setting)]
        limit_s = self.limit_s if self.request.episodes else _LIMIT_OF_FULL_S if self.request.full else _LIMIT_S
        command = self._launcher(situation)
        # The launcher itself must not load what its ranks are to load.
        command += ["env", *(f"{name}={value}" for name, value in variables.items())]
        words = [str(self._runnable[situation.mpi]), *flags]
        if setting.name not in ON_CARDS:
            return Start([*command, *words], self.environment(), limit_s)
        command += [*nic_daemons.OWN_NIC, *words]
        return Start(nic_daemons.words(list(self.hosts.addresses()), command), self.environment(), limit_s)

    def _launcher(self, where: Where) -> list[str]:
        if where.hosts == 1:
            return mpi_settings.job(where.mpi, where.ranks)
        options = self.hosts.options(where.mpi, where.ranks // where.hosts)
        return [*mpi_settings.launcher(where.mpi), *options, "-n", str(where.ranks)]

    def _extent(self, where: Where, setting: Setting) -> list[str]:
        """How much is measured in a launch."""
        full, about_doors = self.request.full, setting.name in (STOCK, *DOORS) and not self.request.short
        open_mpi = where.mpi.family == "openmpi"
        late = about_doors and where.ranks == LATE_RANKS and where.hosts == 1 and (full or open_mpi)
        set_up = about_doors and where.apart == "launcher" and (full or (where.ranks == SET_UP_RANKS and open_mpi))
        flags = ["--late-ms", "1000" if late else "0", "--communicators", "12" if set_up else "0"]
        if not open_mpi or where.apart == "cgroups":
            flags += ["--batch-us", str(_LONG_BATCH_US)]
        flags += self.counted()
        if only := self._only(where, setting):
            flags += ["--only", ",".join(only)]
        return flags

    def _only(self, where: Where, setting: Setting) -> list[str]:
        """The barriers of that launch; empty: all there are."""
        settings = {one.name for one in self._known[where.mpi]}
        barriers = [name.partition(" [")[0] for name in self.request.only]
        plans = [name for name in barriers if name not in CALLS and name not in settings]
        names = [name for name in CALLS if name in barriers] or list(CALLS[:1] if plans else CALLS)
        if where.mpi.family == "mpich" and not self.request.full:
            names = names[:1]  # it takes its time for each
        if setting.name == PRELOAD:  # its MPI_Ibarrier is the MPI's
            return ["MPI_Barrier", "PMPI_Barrier"]
        if setting.name in WATCHED:
            return [f"{before}{call}" for call in mpi_settings.WATCHED_CALLS for before in ("", "P")]
        if setting.name != STOCK or where.apart == "cgroups":
            return names
        if self.request.only:
            return names + plans
        if self.request.full:
            return []
        return names if where.mpi.family != "openmpi" else [*names, *_few_plans(where)]


def _few_plans(where: Where) -> list[str]:
    if where.hosts == 1:
        return ["turnstile", *FEW_PLANS]
    if where.ranks > where.hosts:
        return ["turnstile/dissemination", *FEW_PLANS]
    return list(dict.fromkeys(plan.partition("+")[0] for plan in FEW_PLANS))  # there is nothing but messages

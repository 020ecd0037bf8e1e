# SPDX-License-Identifier: Apache-2.0
"""How an MPI can be set up for a measurement: as it comes, with its other barriers, with tollbar's doors."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tollbar.backports import zip_equal
from tollbar.machine import doors, mpis, paths
from tollbar.machine.mpis import Mpi

STOCK = "stock"
COMPONENT = "component"
PRELOAD = "preload"
DOORS = (COMPONENT, PRELOAD)
WATCHED = ("watched", "unwatched")
#: Calls that are measured with those, as no door answers them: a barrier of one rank is the MPI's own.
WATCHED_CALLS = (
    "MPI_Allreduce",
    "MPI_Bcast",
    "MPI_Barrier x1000 of MPI_COMM_SELF",
    "MPI_Allreduce x1000 of MPI_COMM_SELF",
    "MPI_Bcast x1000 of MPI_COMM_SELF",
)
BASIC = "coll/basic"
_BY_MESSAGES, _ON_CARDS, _BY_CHOICE = " by messages", " on cards", " by choice"
ON_CARDS = tuple(door + _ON_CARDS + how for door in DOORS for how in ("", _BY_CHOICE))

_TUNED = {"linear": 1, "double ring": 2, "recursive doubling": 3, "bruck": 4, "two-proc": 5, "tree": 6}
_MPICH_4 = ("nb", "smp", "dissemination")
_MPICH_5 = ("nb", "smp", "k_dissemination", "recexch")
_INTEL = {"dissemination": 1, "recursive doubling": 2}


@dataclass(frozen=True)
class Setting:
    """The variables that the ranks find in their environment."""

    name: str
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)

    def suits(self, ranks: int) -> bool:
        return self.name != "two-proc" or ranks == 2


def own_settings(mpi: Mpi) -> list[Setting]:
    """The MPI as it comes, then with each barrier that it has and can be told to use."""
    return [Setting(STOCK), *_OWN[mpi.family](mpi)]


def _open_mpi(mpi: Mpi) -> list[Setting]:
    tuned = [
        Setting(
            name, {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_barrier_algorithm": str(number)}
        )
        for name, number in _TUNED.items()
    ]
    others = [Setting(f"coll/{name}", {f"OMPI_MCA_coll_{name}_priority": "95"}) for name in ("sm", "han")]
    # Linear up to coll_basic_crossover ranks, then a binomial tree: what Hoefler et al. call Open MPI's own.
    basic = Setting(BASIC, {"OMPI_MCA_coll": "basic,libnbc,self"})
    return [*tuned, *others, basic]


def _mpich(mpi: Mpi) -> list[Setting]:
    return [
        Setting(name, {"MPIR_CVAR_BARRIER_INTRA_ALGORITHM": name, "MPIR_CVAR_DEVICE_COLLECTIVES": "none"})
        for name in (_MPICH_4 if mpi.major < 5 else _MPICH_5)
    ]


def _intel(mpi: Mpi) -> list[Setting]:
    return [Setting(name, {"I_MPI_ADJUST_BARRIER": str(number)}) for name, number in _INTEL.items()]


_OWN = {"openmpi": _open_mpi, "mpich": _mpich, "impi": _intel}


def door_settings(mpi: Mpi) -> tuple[list[Setting], list[str]]:
    """Tollbar's doors for that MPI, and a note for each that is not there."""
    settings, notes = [], []
    if mpi.family == "openmpi":
        if path := doors.component(mpi):
            settings.append(Setting(COMPONENT, {doors.COMPONENT_PATH: doors.component_path(mpi, path)}))
        elif mpi.major < 5:
            notes.append(f"{doors.COMPONENT} is not measured: it is not built for {mpi.name}")
    if path := doors.preload(mpi.interface):
        settings.append(Setting(PRELOAD, {"LD_PRELOAD": str(path)}))
    else:
        notes.append(f"{doors.PRELOADS[mpi.interface]} is not measured: it is not built")
    return settings, notes


def watched(mpi: Mpi) -> list[Setting]:
    """The MPI with the preload, which counts its calls for TOLLBAR_TIMEOUT, or would; nothing where it is not built."""
    path = doors.preload(mpi.interface)
    timeouts = zip_equal(WATCHED, ("600", "0"))
    return [Setting(name, {"LD_PRELOAD": str(path), "TOLLBAR_TIMEOUT": s}) for name, s in timeouts] if path else []


def by_messages(doors: list[Setting]) -> list[Setting]:
    """The same doors, whose ranks meet by the MPI's messages whatever else there is."""
    return [Setting(one.name + _BY_MESSAGES, {**one.variables, "TOLLBAR_NETWORK": "p2p"}) for one in doors]


def on_cards(doors: list[Setting]) -> list[Setting]:
    """The same doors, whose ranks meet on their hosts' network cards."""
    return [Setting(one.name + _ON_CARDS, {**one.variables, "TOLLBAR_NETWORK": "nic"}) for one in doors]


def by_choice(doors: list[Setting]) -> list[Setting]:
    """The same doors without a plan, which their first barrier chooses."""
    return [
        Setting(one.name + _BY_CHOICE, {key: value for key, value in one.variables.items() if key != "TOLLBAR_PLAN"})
        for one in doors
    ]


def programs(
    wanted: Sequence[Mpi], kind: str = "bench-mpi", verb: str = "measured"
) -> tuple[dict[Mpi, Path], list[str]]:
    """The measuring program for each of those MPIs, and a note for each that has none."""
    known, notes = {}, []
    for mpi in wanted:
        five = "5" * (mpi.family == "impi" or mpi.major >= 5)
        try:
            known[mpi] = paths.program(f"tollbar-{kind}-{mpi.interface}{five}")
        except FileNotFoundError as error:
            notes.append(f"{mpi.name} is not {verb}: {error}")
    return known, notes


def some(known: Mapping[Mpi, Path], notes: Sequence[str]) -> Mapping[Mpi, Path]:
    """The programs of programs(). Raises FileNotFoundError where there is none."""
    if not known:
        raise FileNotFoundError(notes[0] if notes else "there is no MPI here; `scripts/setup` installs some")
    return known


def job(mpi: Mpi, ranks: int) -> list[str]:
    """How that MPI starts so many ranks on this machine."""
    options = anywhere() if mpi.family == "openmpi" else []
    return [*launcher(mpi), *options, "-n", str(ranks)]


def anywhere() -> list[str]:
    """The variables that make Open MPI start more ranks than processors, bound to none, and those of root."""
    return ["--oversubscribe", "--bind-to", "none", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def launcher(mpi: Mpi) -> list[str]:
    """The launcher, with what it needs in its environment.

    Intel's pins ranks before it sets theirs, and gives them its own unless its options say otherwise.
    """
    if mpi.family != "impi":
        return [str(mpi.launcher)]
    wheels = mpis.wheels_folder()
    libraries = [f"LD_LIBRARY_PATH={wheels / 'impi' / 'lib'}"] if wheels else []
    return ["env", "I_MPI_PIN=0", "I_MPI_FABRICS=shm", *libraries, str(mpi.launcher)]

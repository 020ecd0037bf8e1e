# SPDX-License-Identifier: Apache-2.0
"""Launches of `tollbar bench mpi` and `bench hybrid` by where they ran: MPI, hosts, ranks, threads a rank.

An MPI is measured in several settings (as it comes, with another algorithm of its own, behind a door of
tollbar's), each in processes of its own; what `MPI_Barrier` means depends on that, so its name says which.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tollbar.data import comparison
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.records import Launch

STOCK = "stock"
DOORS = ("component", "preload")


class Place(NamedTuple):
    """Where a barrier between processes was measured."""

    mpi: str
    hosts: int
    ranks: int
    threads: int
    placement: str = "free"
    apart: str = "launcher"  #: cgroups: each rank has a control group of its own
    level: str = "serialized"  #: who may call the MPI, where ranks have threads

    @property
    def along(self) -> str:
        """What stays the same along a curve over the ranks; a few of them may be pinned and many not."""
        each = -(-self.ranks // self.hosts)
        words = ["one host" if self.hosts == 1 else "a rank a host" if each == 1 else f"{each} ranks a host"]
        words += ["a control group each"] if self.apart == "cgroups" else []
        words += [self.level] if self.level != "serialized" else []
        return ", ".join(words)

    @property
    def layout(self) -> str:
        """How the ranks lie."""
        return f"{self.along}, pinned" if self.placement == "pinned" else self.along

    @property
    def text(self) -> str:
        """The place in words."""
        inside = f" of {self.threads} threads" if self.threads > 1 else ""
        return f"{self.mpi}, {self.layout}, {self.ranks} ranks{inside}"


Places = Mapping[Place, Comparison]


def gather(launches: Iterable[Launch]) -> dict[Place, Comparison]:
    """The comparisons by place, in order."""
    return dict(sorted(comparison.gather(map(with_full_names, launches), place_of).items()))


def place_of(launch: Launch) -> Place:
    facts = launch.environment.facts
    return Place(
        str(facts.get("mpi") or "an MPI"),
        int(facts.get("hosts") or 1),
        launch.environment.ranks,
        int(facts.get("threads") or 1),
        launch.environment.placement,
        str(facts.get("apart") or "launcher"),
        str(facts.get("level") or "serialized"),
    )


def with_full_names(launch: Launch) -> Launch:
    """The same launch; its names tell what stood behind MPI_Barrier, its program tells settings apart."""
    facts = launch.environment.facts
    setting, door = str(facts.get("setting") or STOCK), str(facts.get("door") or "none")

    def named(record: Any) -> Any:
        if record.kind not in ("mpi", "door"):
            return record
        behind = setting if record.kind != "door" or setting.startswith(door) else door
        name = (
            record.name if behind == STOCK or record.name.startswith("PMPI_") else f"{record.name} [{behind}]"
        )
        return dataclasses.replace(record, name=name)

    return dataclasses.replace(
        launch,
        program=f"{launch.program} {setting} {door}",
        batches=tuple(map(named, launch.batches)),
        episodes=tuple(map(named, launch.episodes)),
        isolated=tuple(map(named, launch.isolated)),
        singles=tuple(map(named, launch.singles)),
    )


def layouts(places: Places) -> dict[tuple[str, str], dict[int, Comparison]]:
    """For each MPI and layout the comparisons by ranks, the widest first; pinned where there is both."""
    found: dict[tuple[str, str], dict[int, Comparison]] = {}
    for place, each in places.items():  # in order, so that pinned comes after free
        if place.threads == 1:
            found.setdefault((place.mpi, place.along), {})[place.ranks] = each
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def names(comparisons: Iterable[Comparison], start: str = "") -> list[Candidate]:
    """The candidates of that name, or of that name with a parameter, in the order in which they were met."""
    met: dict[Candidate, None] = {}
    for each in comparisons:
        for candidate in each.candidates:
            if not start or candidate.name == start or candidate.name.startswith(f"{start}:"):
                met[candidate] = None
    return list(met)


def door_of(each: Comparison) -> dict[str, Candidate]:
    """MPI_Barrier behind each door of tollbar's that was measured."""
    found = {door: each.find(f"MPI_Barrier [{door}]") for door in DOORS}
    return {door: candidate for door, candidate in found.items() if candidate}


def own_of(each: Comparison) -> Candidate | None:
    """The MPI's own barrier as it comes; where ranks have threads, with what is usual around it."""
    own = (each.find("MPI_Barrier"), each.find("PMPI_Barrier"))
    return next(filter(None, (*own, *(one for one in each.candidates if one.kind == "mpi"))), None)

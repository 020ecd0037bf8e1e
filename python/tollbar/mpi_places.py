# SPDX-License-Identifier: Apache-2.0
"""Launches of `tollbar bench mpi` and `bench hybrid` by where they ran: MPI, hosts, ranks, threads a rank."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tollbar import comparison
from tollbar.comparison import Candidate, Comparison
from tollbar.records import Launch


class Place(NamedTuple):
    """Where a barrier between processes was measured."""

    mpi: str
    hosts: int
    ranks: int
    threads: int

    @property
    def layout(self) -> str:
        """What stays the same along a curve over the ranks."""
        if self.hosts == 1:
            return "one host"
        each = -(-self.ranks // self.hosts)
        return "a rank a host" if each == 1 else f"{each} ranks a host"

    @property
    def text(self) -> str:
        """The place in words."""
        inside = f" of {self.threads} threads" if self.threads > 1 else ""
        return f"{self.mpi}, {self.layout}, {self.ranks} ranks{inside}"


Places = Mapping[Place, Comparison]


def gather(launches: Iterable[Launch]) -> dict[Place, Comparison]:
    """The comparisons by place, in order."""
    return dict(sorted(comparison.gather(launches, place_of).items()))


def place_of(launch: Launch) -> Place:
    facts = launch.environment.facts
    mpi = str(facts.get("mpi") or "an MPI")
    if version := facts.get("mpi_version"):
        mpi = f"{mpi} {version}"
    return Place(mpi, int(facts.get("hosts") or 1), launch.environment.ranks, int(facts.get("threads") or 1))


def layouts(places: Places) -> dict[tuple[str, str], dict[int, Comparison]]:
    """For each MPI and layout the comparisons by ranks; the widest first."""
    found: dict[tuple[str, str], dict[int, Comparison]] = {}
    for place, each in places.items():
        if place.threads == 1:
            found.setdefault((place.mpi, place.layout), {})[place.ranks] = each
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))


def names(comparisons: Iterable[Comparison], start: str = "") -> list[Candidate]:
    """The candidates of that name, or of that name with a parameter, in the order in which they were met."""
    met: dict[Candidate, None] = {}
    for each in comparisons:
        for candidate in each.candidates:
            if not start or candidate.name == start or candidate.name.startswith(f"{start}:"):
                met[candidate] = None
    return list(met)

# SPDX-License-Identifier: Apache-2.0
"""Workloads that were measured: by where and what was computed, how long a run took with each barrier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tollbar.data import mpi_places, statistics
from tollbar.data.comparison import Candidate
from tollbar.data.records import Launch, Working
from tollbar.data.statistics import Interval, Series


class Place(NamedTuple):
    """What the barriers ran over, and between how many ranks."""

    over: str
    ranks: int
    placement: str


@dataclass
class Measured:
    """Each series is launch -> round -> value, in nanoseconds of one run."""

    phases: int
    computing_ns: float
    elapsed: dict[int, dict[int, float]] = field(default_factory=dict)
    longest: dict[int, dict[int, float]] = field(default_factory=dict)  #: no barrier needs less

    @property
    def run(self) -> Interval:
        return statistics.summary(self.elapsed)

    @property
    def longest_ns(self) -> float:
        return statistics.summary(self.longest).value

    @property
    def barrier_ns(self) -> float:
        """What each barrier adds to the least that a run can take; below 0 where the clock is too coarse."""
        added: Series = {
            launch: {number: ns - self.longest[launch][number] for number, ns in rounds.items()}
            for launch, rounds in self.elapsed.items()
        }
        return statistics.summary(added).value / self.phases

    @property
    def efficiency(self) -> float:
        """The share of a run that is computing."""
        return self.computing_ns / self.run.value


#: workload -> candidate -> what was measured
Workloads = dict[str, dict[Candidate, Measured]]


def gather(launches: Iterable[Launch]) -> dict[Place, Workloads]:
    """Everything that was measured of workloads, by place."""
    found: dict[Place, Workloads] = {}
    for launch in map(mpi_places.with_full_names, launches):
        place = Place(_over(launch), launch.environment.ranks, launch.environment.placement)
        for record in launch.singles:
            if isinstance(record, Working):
                candidate = Candidate(record.name, record.kind, record.wait)
                here = found.setdefault(place, {}).setdefault(record.workload, {})
                measured = here.setdefault(candidate, Measured(record.phases, record.computing_ns))
                one_run = record.elapsed_ns / record.runs
                measured.elapsed.setdefault(launch.group, {})[record.round] = one_run
                measured.longest.setdefault(launch.group, {})[record.round] = record.longest_ns
    return dict(sorted(found.items()))


def _over(launch: Launch) -> str:
    """What is compared with each other has run over the same: on hosts an MPI is beside what needs none."""
    facts = launch.environment.facts
    beside_hosts = launch.program.startswith("mpi.")
    if beside_hosts or "network" in facts:
        there = facts.get("network") == "namespaces" or int(facts.get("hosts") or 1) > 1
        return "hosts" if there else "loopback"
    return "shmem" if "shmem" in facts else str(facts.get("mpi") or "threads")

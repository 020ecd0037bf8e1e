# SPDX-License-Identifier: Apache-2.0
"""What was measured on this machine: the newest stored run of each bench, read once; or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tollbar.data import places, results, samples, workloads
from tollbar.data.places import Candidate, Here, Place
from tollbar.data.samples import Samples
from tollbar.models import crowd
from tollbar.models.prediction import Model
from tollbar.papers.exhibit import Point, X, measured_point
from tollbar.report import nic_measured

#: The command that measures what an exhibit lacks.
COMMANDS = {
    "threads": "tollbar bench threads",
    "mpi": "tollbar bench mpi",
    "hybrid": "tollbar bench hybrid",
    "crowd": "tollbar bench crowd",
    "shmem": "tollbar bench shmem",
    "udp": "tollbar bench nic",
    "work": "tollbar bench nic --workload paper",
}


@dataclass
class Stored:
    """Runs in `within`, by default where bench stores them; with `nothing`, as if there were none."""

    within: Path | None = None
    nothing: bool = False
    used: dict[str, Path] = field(default_factory=dict)  #: the runs that were looked into

    def samples(self, kind: str) -> Samples:
        """What the newest run of that kind has, or nothing."""
        folder = None if self.nothing else results.newest(self.within or results.folder(), kind)
        if folder is not None:
            self.used[kind] = folder
        return samples.read([] if folder is None else [folder])

    @cached_property
    def threads(self) -> dict[int, Here]:
        """By number of threads: pinned where there is both."""
        found = sorted(places.threads(self.samples("threads")).items(), key=lambda item: item[0].placement)
        return {place.ranks: here for place, here in found}

    @cached_property
    def mpi(self) -> tuple[str, dict[int, Here]]:
        """The MPI that was measured with most numbers of ranks, and what was measured by ranks."""
        for (mpi, layout), found in places.layouts(places.processes(self.samples("mpi"))).items():
            return f"{mpi}, {layout}", found
        return "", {}

    @cached_property
    def hybrid(self) -> Mapping[Place, Here]:
        return places.processes(self.samples("hybrid"))

    @cached_property
    def crowds(self) -> crowd.Crowds | None:
        return crowd.gather(self.samples("crowd"))

    @cached_property
    def shmem(self) -> dict[int, Here]:
        return places.by_ranks(self.samples("shmem"))

    @cached_property
    def hosts(self) -> nic_measured.Hosts:
        """Barriers between hosts and on their cards."""
        return nic_measured.of_hosts(self.samples("udp"))

    @cached_property
    def work(self) -> dict[workloads.Place, workloads.Workloads]:
        """Of several runs, over threads, MPIs, PEs and hosts, the newest that has a place."""
        folders = [] if self.nothing else results.by_age(self.within or results.folder(), "work")
        found: dict[workloads.Place, workloads.Workloads] = {}
        for folder in folders:
            found |= workloads.gather(samples.read([folder]))
            self.used["work"] = folder
        return found

    def work_near(self, wanted: int) -> tuple[int, workloads.Workloads]:
        """The workloads between the paper's number of hosts or the nearest to it, if there are any."""
        found = nic_measured.of_work(self.work)
        number = min(found, key=lambda hosts: abs(hosts - wanted), default=wanted)
        return number, found.get(number, {})

    def missing(self, kind: str) -> str | None:
        """The command that would measure that kind; None where something is stored."""
        stored = not self.nothing and results.newest(self.within or results.folder(), kind) is not None
        return None if stored else COMMANDS[kind]


def measured(
    found: Mapping[int, Here],
    candidate: Candidate | None,
    series: str,
    model: Model | None,
    plan: str,
    counted: str = "",
) -> list[Point]:
    """The median latency of a candidate, in microseconds, beside the price of its plan on this machine.

    `counted` is the metric by which the paper counts.

    There is no prediction for the points of dissemination that the model was fitted to.
    """
    points = []
    fitted = _fitted(found, model) if model and plan == "dissemination" else ()
    for ranks, here in sorted(found.items()):
        if taken := here.median(candidate, here.time(candidate)):
            foretold = model.predict(plan, ranks) if model and ranks not in fitted else None
            foretold_us = None if foretold is None else foretold / 1e3
            as_paper = here.median(candidate, counted)
            points.append(measured_point(series, ranks, taken, foretold_us, as_paper))
    return points


def _fitted(found: Mapping[int, Here], model: Model) -> set[int]:
    """The fewest ranks, and the fewest that share processors."""
    shared = [ranks for ranks in found if model.processors and ranks > model.processors]
    return {min(found), min(shared, default=min(found))}


def candidate(found: Mapping[int, Here], name: str, *waits: str) -> Candidate | None:
    """That barrier, by the first of these ways of waiting that was measured."""
    for wait in waits:
        for each in found.values():
            if met := each.find(name, wait):
                return met
    return None


def merged(*groups: list[Point]) -> list[Point]:
    """Points of one series and place as one: what is known of it from each group."""
    found: dict[tuple[str, X], Point] = {}
    for point in (point for group in groups for point in group):
        key = point.series, point.x
        if key in found:
            known = {name: value for name, value in vars(point).items() if value is not None}
            point = Point(**(vars(found[key]) | known))
        found[key] = point
    return list(found.values())

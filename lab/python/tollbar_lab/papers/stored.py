# SPDX-License-Identifier: Apache-2.0
"""Measurements of this machine: the newest stored run of each bench, read once; or nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from tollbar.data import places, results, samples
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import CANDIDATE, PLACE, Samples

from tollbar_lab.models import crowd, prediction, workloads
from tollbar_lab.models.prediction import Model
from tollbar_lab.papers import lacking, nic_measured
from tollbar_lab.papers.exhibit import Point, X, measured_point
from tollbar_lab.papers.lacking import Lack

_DEFAULT = ":4"  #: of a combining tree


@dataclass
class Stored:
    """Runs in `within`, by default where bench stores them; with `nothing`, as if there were none."""

    within: Path | None = None
    nothing: bool = False
    used: dict[str, Path] = field(default_factory=dict)  #: the runs that were looked into, by their names

    def samples(self, kind: str) -> Samples:
        """Each barrier in each place from the newest run of that kind that has it, on the machine of the newest."""
        runs = self._runs(kind)
        machine = _machine(runs[-1]) if runs else None
        read = samples.read([run for run in runs if _machine(run) == machine])
        age = pl.col("run").replace_strict({run.name: age for age, run in enumerate(runs)}, default=0)
        newest = age == age.max().over(*PLACE, *CANDIDATE)
        read = dataclasses.replace(read, records=read.records.filter(newest))
        for name in read.records["run"].unique():
            self.used[name] = next(run for run in runs if run.name == name)
        return read

    def _runs(self, kind: str) -> list[Path]:
        """The stored runs of that kind, the newest last."""
        return [] if self.nothing else results.by_age(self.within or results.folder(), lacking.stored_as(kind))

    @cached_property
    def threads(self) -> dict[int, Measurements]:
        """The measurements by number of threads; pinned where there is both."""
        threads = places.threads(self.samples("threads"))
        by_placement = sorted(threads.items(), key=lambda item: item[0].placement)
        return {place.ranks: measurements for place, measurements in by_placement}

    @cached_property
    def mpi(self) -> tuple[str, dict[int, Measurements]]:
        """Open MPI, which the papers are about, else another; in the layout that was measured last.

        With it come the measurements there, by ranks.
        """
        ages = {run.name: age for age, run in enumerate(self._runs("mpi"))}
        layouts = places.layouts(places.processes(self.samples("mpi")))

        def late(layout: tuple[str, str]) -> tuple[bool, int]:
            names = {name for measurements in layouts[layout].values() for name in measurements.raw["run"].unique()}
            return not layout[0].startswith("Open MPI"), -max(ages[name] for name in names)

        first = min(layouts, key=late, default=None)
        return (", ".join(first), layouts[first]) if first else ("", {})

    @cached_property
    def hybrid(self) -> Mapping[Situation, Measurements]:
        return places.processes(self.samples("hybrid"))

    @cached_property
    def crowds(self) -> crowd.Crowds | None:
        return crowd.gather(self.samples("crowd"))

    @cached_property
    def shmem(self) -> dict[int, Measurements]:
        return places.by_ranks(self.samples("shmem"))

    @cached_property
    def hosts(self) -> nic_measured.Hosts:
        """Barriers between hosts and on their cards."""
        return nic_measured.of_hosts(self.samples("udp"))

    @cached_property
    def work(self) -> dict[Situation, workloads.Workloads]:
        """The workloads of each place from the newest run that has it, over threads, MPIs, PEs and hosts."""
        by_place: dict[Situation, workloads.Workloads] = {}
        for folder in self._runs("work"):
            by_place |= workloads.gather(samples.read([folder]))
            self.used[folder.name] = folder
        return by_place

    def work_near(self, wanted: int) -> tuple[int, workloads.Workloads]:
        """The workloads between the paper's number of hosts or the nearest to it, if there are any."""
        by_hosts = nic_measured.of_work(self.work)
        number = min(by_hosts, key=lambda hosts: abs(hosts - wanted), default=wanted)
        return number, by_hosts.get(number, {})

    def missing(self, kind: str, known: Mapping[str, object]) -> Lack | None:
        """The barriers of that kind of bench of which nothing is known; None where something is known of all.

        An empty name stands for all that such a bench measures.
        """
        names = [name for name, value in known.items() if not value]
        return Lack(kind, tuple(filter(None, names))) if names or not self._runs(kind) else None


def _machine(run: Path) -> tuple[object, ...]:
    """The facts that part one machine's runs from another's."""
    environment = results.read_environment(run)
    return environment.get("model"), environment.get("usable")


def any_of(points: Iterable[Point]) -> dict[str, bool]:
    """For Stored.missing(): whether any of these was measured."""
    return {"": any(point.measured is not None for point in points)}


def measured(
    by_ranks: Mapping[int, Measurements],
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
    fitted = _fitted(by_ranks, model) if model and plan == "dissemination" else ()
    for ranks, measurements in sorted(by_ranks.items()):
        if taken := measurements.median(candidate, measurements.time(candidate)):
            predicted_ns = model.predict(plan, ranks) if model and ranks not in fitted else None
            predicted_us = None if predicted_ns is None else predicted_ns / 1e3
            as_paper = measurements.median(candidate, counted)
            points.append(measured_point(series, ranks, taken, predicted_us, as_paper))
    return points


def of_each_rank(by_ranks: Mapping[int, Measurements], candidate: Candidate | None, series: str) -> list[Point]:
    """The mean time of each rank in its calls, over all launches, where a number of episodes was measured."""
    points = []
    for ranks, measurements in sorted(by_ranks.items()):
        metric, label = pl.col("metric") == "inside_each_ns", candidate.label if candidate else ""
        rows = measurements.raw.filter(metric, pl.col("candidate") == label)
        for rank, ns in enumerate(np.mean(rows["value"].to_list(), axis=0) if len(rows) else ()):
            points.append(Point(f"{series}, rank {rank}", ranks, measured=float(ns) / 1e3))
    return points


def model_of(by_ranks: Mapping[int, Measurements]) -> Model | None:
    """The LogP model of these participants, fitted to dissemination's first points."""
    points = []
    for ranks, measurements in by_ranks.items():
        by_mpi = measurements.place.over != "threads"
        known = by_messages({ranks: measurements}, "dissemination") if by_mpi else measurements.find("dissemination")
        taken_ns = measurements.time_ns(known)
        points += [] if taken_ns is None else [(ranks, taken_ns)]
    usable = max((measurements.place.processors for measurements in by_ranks.values()), default=None)
    return prediction.fitted(points, usable)


def _fitted(by_ranks: Mapping[int, Measurements], model: Model) -> set[int]:
    """The fewest ranks, and the fewest that share processors."""
    shared = [ranks for ranks in by_ranks if model.processors and ranks > model.processors]
    return {min(by_ranks), min(shared, default=min(by_ranks))}


def by_messages(by_ranks: Mapping[int, Measurements], plan: str) -> Candidate | None:
    """The plan whose signals are the MPI's messages: one that was measured in shared memory is another barrier."""
    a_rank_a_host = all(measurements.place.hosts == ranks for ranks, measurements in by_ranks.items())
    name = plan.removesuffix(_DEFAULT)  # campaigns know the default by its name alone, too
    waits = ("messages", *(["auto"] if a_rank_a_host else []))
    return candidate(by_ranks, plan, *waits) or candidate(by_ranks, name, *waits)


def named(plan: str) -> str:
    """The name by which `tollbar bench mpi` measures what by_messages() finds."""
    return f"{plan}+messages"


def titled(title: str, where: str, points: Iterable[Point]) -> str:
    """The title, and with what the points were measured, if any of them was."""
    return f"{title} (measured: {where})" if any(point.measured is not None for point in points) else title


def candidate(by_ranks: Mapping[int, Measurements], name: str, *waits: str) -> Candidate | None:
    """The barrier of that name, by the first of these ways of waiting that was measured."""
    for wait in waits:
        for measurements in by_ranks.values():
            if measured_candidate := measurements.find(name, wait):
                return measured_candidate
    return None


def merged(*groups: list[Point]) -> list[Point]:
    """Points of one series and place as one: what is known of it from each group."""
    by_place: dict[tuple[str, X], Point] = {}
    for point in (point for group in groups for point in group):
        key = point.series, point.x
        if key in by_place:
            known = {name: value for name, value in vars(point).items() if value is not None}
            point = Point(**(vars(by_place[key]) | known))
        by_place[key] = point
    return list(by_place.values())

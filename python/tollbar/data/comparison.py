# SPDX-License-Identifier: Apache-2.0
"""Launches sorted into situations: in each, every candidate's times by launch and round, and their floor.

Four times are kept apart and always named: *period* (elapsed time of a batch over its episodes), *latency*
(last entry to last exit), *skew* (first exit to last exit), *span* (first entry to last exit).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from tollbar.data import statistics
from tollbar.data.records import Batch, Environment, Episodes, Floor, Launch
from tollbar.data.singles import Singles
from tollbar.data.statistics import Interval, Ratio, Series

TIMES = ("period", "latency", "skew", "span")
Key = TypeVar("Key")


class Situation(NamedTuple):
    """What a choice depends on, besides the machine."""

    placement: str
    ranks: int


class Candidate(NamedTuple):
    """One barrier under one waiting policy."""

    name: str
    kind: str
    wait: str

    @property
    def label(self) -> str:
        return self.name if self.wait in ("auto", "", "own") else f"{self.name} ({self.wait})"


@dataclass
class Measured:
    """What was measured of one candidate in one situation; each series is launch -> round -> value."""

    program: str
    period: dict[int, dict[int, float]] = field(default_factory=dict)
    latency: dict[int, dict[int, float]] = field(default_factory=dict)
    skew: dict[int, dict[int, float]] = field(default_factory=dict)
    span: dict[int, dict[int, float]] = field(default_factory=dict)
    tail: dict[int, dict[int, float]] = field(default_factory=dict)  #: p99 of the latencies of a round
    floor: dict[int, dict[int, float]] = field(default_factory=dict)  #: of the same round and process
    switches: dict[int, dict[int, float]] = field(
        default_factory=dict
    )  #: context switches an episode, all threads
    cpu: dict[int, dict[int, float]] = field(default_factory=dict)  #: CPU time an episode, all threads
    call: dict[int, dict[int, float]] = field(default_factory=dict)  #: a call of rank 0, among processes
    alone: dict[int, dict[int, float]] = field(default_factory=dict)  #: latency of isolated episodes
    alone_skew: dict[int, dict[int, float]] = field(default_factory=dict)  #: exit skew of isolated episodes
    samples: list[tuple[float, ...]] = field(default_factory=list)  #: the latencies, one tuple a round

    def over_floor(self, time: str) -> Series:
        """That time in multiples of the floor of the same round and process."""
        return {
            launch: {number: value / floors[number] for number, value in rounds.items() if number in floors}
            for launch, rounds in getattr(self, time).items()
            if (floors := self.floor.get(launch)) and floors.keys() & rounds.keys()
        }

    def latencies(self) -> np.ndarray:
        return np.concatenate([np.asarray(each) for each in self.samples]) if self.samples else np.array([])


@dataclass
class Comparison:
    """All candidates of one situation."""

    situation: Situation
    usable: int
    threads: int = 1  #: of each rank, where ranks are processes
    candidates: dict[Candidate, Measured] = field(default_factory=dict)
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)  #: (name, policy) -> why
    singles: Singles = field(default_factory=Singles)

    @property
    def participants(self) -> int:
        return self.situation.ranks * self.threads

    @property
    def crowded(self) -> bool:
        return self.participants > self.usable

    @property
    def floor(self) -> Series:
        """The floor, as the process with most candidates saw it."""
        return max((measured.floor for measured in self.candidates.values()), key=len, default={})

    def find(self, name: str, wait: str | None = None) -> Candidate | None:
        """The candidate of that name, under that policy or under its usual one."""
        named = [candidate for candidate in self.candidates if candidate.name == name]
        if wait is not None:
            named = [candidate for candidate in named if candidate.wait == wait]
        return min(named, key=lambda candidate: candidate.label != candidate.name, default=None)

    def ratio(self, of: Candidate, to: Candidate, time: str = "period") -> Ratio:
        """How many times as long `of` takes; paired by round in one process.

        Candidates of different processes are compared in multiples of their own process's floor, if there is
        one: the distance between two virtual processors may change from one process to the next.
        """
        one, other = self.candidates[of], self.candidates[to]
        if one.program == other.program:
            return statistics.ratio(getattr(one, time), getattr(other, time))
        if one.floor and other.floor:
            return statistics.ratio_between(one.over_floor(time), other.over_floor(time))
        return statistics.ratio_between(getattr(one, time), getattr(other, time))


def floor_ns(floor: Floor, participants: int, usable: int) -> float | None:
    """What an episode cannot take less than.

    One cache-line transfer, or where threads share processors the bound B(N) = (ceil(N / C) - 1) yield
    switches: between two releases every thread must run once.
    """
    if participants <= usable:
        return floor.one_way_ns or None
    turns = -(-participants // usable) - 1
    return turns * floor.yield_switch_ns if floor.yield_switch_ns else None


def compare(launches: Iterable[Launch]) -> dict[Situation, Comparison]:
    """The launches sorted into situations, pinned first, fewest ranks first."""
    found = gather(launches, lambda launch: _situation(launch.environment))
    return dict(sorted(found.items(), key=lambda item: (item[0].placement != "pinned", item[0].ranks)))


def gather(launches: Iterable[Launch], key: Callable[[Launch], Key]) -> dict[Key, Comparison]:
    """The launches of each key together, in the order in which the keys were met first."""
    found: dict[Key, Comparison] = {}
    for launch in launches:
        told = launch.environment
        here = Comparison(_situation(told), told.usable, int(told.facts.get("threads") or 1))
        _add(found.setdefault(key(launch), here), launch)
    return found


def _situation(environment: Environment) -> Situation:
    return Situation(environment.placement, environment.ranks)


def _add(comparison: Comparison, launch: Launch) -> None:
    floors = {
        number: value
        for number, floor in launch.floors.items()
        if (value := floor_ns(floor, comparison.participants, comparison.usable))
    }
    comparison.singles.add(launch)
    for skipped in launch.skipped:
        comparison.skipped[skipped.name, skipped.wait] = skipped.why
    for batch in launch.batches:
        measured = _measured(comparison, launch, batch)
        period = batch.elapsed_ns / batch.episodes
        _put(measured.period, launch, batch, period)
        _put(measured.switches, launch, batch, (batch.voluntary + batch.involuntary) / batch.episodes)
        _put(measured.cpu, launch, batch, batch.cpu_ns / batch.episodes)
        if batch.round in floors:
            _put(measured.floor, launch, batch, floors[batch.round])
    for episodes in launch.episodes:
        if episodes.latency_ns:
            measured = _measured(comparison, launch, episodes)
            _put(measured.latency, launch, episodes, _middle(episodes.latency_ns))
            _put(measured.skew, launch, episodes, _middle(episodes.skew_ns))
            _put(measured.span, launch, episodes, _middle(episodes.span_ns))
            _put(measured.tail, launch, episodes, float(np.quantile(episodes.latency_ns, 0.99)))
            measured.samples.append(episodes.latency_ns)
            if episodes.call_ns:
                _put(measured.call, launch, episodes, _middle(episodes.call_ns))
    for isolated in launch.isolated:
        if not isolated.latency_ns:
            continue
        measured = _measured(comparison, launch, isolated)
        _put(measured.alone, launch, isolated, _middle(isolated.latency_ns))
        _put(measured.alone_skew, launch, isolated, _middle(isolated.skew_ns))


def _measured(comparison: Comparison, launch: Launch, record: Batch | Episodes) -> Measured:
    candidate = Candidate(record.name, record.kind, record.wait)
    return comparison.candidates.setdefault(candidate, Measured(launch.program))


def _put(series: dict[int, dict[int, float]], launch: Launch, record: Batch | Episodes, value: float) -> None:
    series.setdefault(launch.group, {})[record.round] = value


def _middle(values: tuple[float, ...]) -> float:
    return max(float(np.median(values)), 1e-3)  # a clock's step can make 0, which has no logarithm


def pooled(series: Series) -> np.ndarray:
    """Every round of every launch, for showing the spread."""
    return np.array([value for rounds in series.values() for value in rounds.values()])


def summarise(series: Series) -> Interval | None:
    """The median over launches, or None where nothing was measured."""
    return statistics.summary(series) if any(series.values()) else None


def tail_ratio(measured: Measured) -> Interval | None:
    """p99 of an episode's latency over its median, per launch."""
    middles, tails = statistics.launch_medians(measured.latency), statistics.launch_medians(measured.tail)
    values = [tails[launch] / middles[launch] for launch in middles.keys() & tails.keys()]
    return statistics.median_interval(values) if values else None

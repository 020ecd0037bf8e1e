# SPDX-License-Identifier: Apache-2.0
"""Crowded barriers measured, beside what the simulator says with this machine's quantum and switches.

The model of Markatos et al. 1991 gives barriers no cost but waiting and switching. Every barrier is compared
with the model's barrier of its shape and way of waiting; where they part, the counted switches and the
processor time tell what the model leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

import tollbar
from tollbar.data import statistics
from tollbar.data.comparison import Candidate
from tollbar.data.records import Crowd, Launch
from tollbar.data.statistics import Interval

#: Model and machine agree when one takes at most so many times as long as the other.
AGREE = 1.25

#: The model's barrier of the same shape; a plan is itself.
_SHAPES = {
    "turnstile": "centralized",
    "tollbar::barrier": "centralized",
    "std::barrier": "centralized",
    "pthread_barrier": "centralized",
    "mcs": "tree",
}
#: Yielding finds whoever is next; to a kernel only sleeping says that a thread cannot go on. All but
#: pthread_barrier yield before they sleep.
_WAITINGS = {"spin": "spin", "yield": "naive", "auto": "naive", "park": "naive"}
_SLEEPERS = ("pthread_barrier",)

_FEW = 20  # episodes: rank 0's own time of so few depends on when it happens to leave
_BARRIERS = 60  # simulated, as in the paper
ORDERS = 7  # in which threads take turns: a kernel goes by who came first, so several are simulated
_FOREIGN_LOAD = 0.1  # of the processors' time that the threads should have had


class Place(NamedTuple):
    """A program on processors; along a curve its computing time changes."""

    ranks: int
    processors: int
    variation: float

    @property
    def turns(self) -> int:
        """Threads on the processor that has most of them."""
        return -(-self.ranks // self.processors)

    @property
    def text(self) -> str:
        shape = f"times vary by {self.variation:.0%}" if self.variation else "equal times"
        on = "1 processor" if self.processors == 1 else f"{self.processors} processors"
        return f"{self.ranks} threads on {on}, {shape}"


class Model(NamedTuple):
    """The barrier and the way of waiting that stand for a candidate in the simulator."""

    barrier: str
    waiting: str


@dataclass(frozen=True)
class Scheduler:
    """What was measured of this machine's scheduler."""

    quantum_us: Interval
    yield_us: Interval  #: a switch by yielding
    sleep_us: Interval  #: a switch by waking another thread and sleeping

    def switch_us(self, model: Model) -> float:
        return (self.sleep_us if model.waiting == "smart" else self.yield_us).value


@dataclass
class Measured:
    """One candidate at one computing time; each series is launch -> round -> value."""

    period_us: dict[int, dict[int, float]] = field(default_factory=dict)
    switches: dict[int, dict[int, float]] = field(default_factory=dict)  #: an episode, of all threads
    busy: dict[int, dict[int, float]] = field(default_factory=dict)  #: share of the processors' time it had


@dataclass(frozen=True)
class Simulated:
    """The same in the model."""

    period_us: float
    switches: float
    busy: float


@dataclass(frozen=True)
class Point:
    """One candidate at one computing time, measured and simulated."""

    place: Place
    candidate: Candidate
    compute_us: float
    measured: Measured
    simulated: Simulated

    @property
    def period(self) -> Interval:
        return statistics.summary(self.measured.period_us)

    @property
    def alone_us(self) -> float:
        """Computing alone, on the processor with most threads."""
        return self.place.turns * self.compute_us

    @property
    def overhead_pct(self) -> float:
        return 100 * (self.period.value / self.alone_us - 1)

    @property
    def simulated_overhead_pct(self) -> float:
        return 100 * (self.simulated.period_us / self.alone_us - 1)

    @property
    def ratio(self) -> float:
        """Measured over simulated."""
        return self.period.value / self.simulated.period_us

    @property
    def agrees(self) -> bool:
        return 1 / AGREE <= self.ratio <= AGREE

    @property
    def switches(self) -> float:
        return statistics.summary(self.measured.switches).value

    @property
    def busy(self) -> float:
        return statistics.summary(self.measured.busy).value


@dataclass(frozen=True)
class Crowds:
    """A whole run: the scheduler, and every point in the order of situation, candidate and computing time."""

    scheduler: Scheduler
    points: list[Point]

    @property
    def places(self) -> list[Place]:
        return list(dict.fromkeys(point.place for point in self.points))

    def curves(self, place: Place) -> dict[Candidate, list[Point]]:
        found: dict[Candidate, list[Point]] = {}
        for point in self.points:
            if point.place == place:
                found.setdefault(point.candidate, []).append(point)
        return found


def gather(launches: Iterable[Launch]) -> Crowds | None:
    """The launches of a run as points; None where there are none of crowds."""
    launches = [launch for launch in launches if launch.scheduling and launch.floors]
    if not launches:
        return None
    scheduler = _scheduler(launches)
    found: dict[tuple[Place, Candidate, float], Measured] = {}
    for launch in launches:
        processors = launch.environment.usable
        for record in launch.singles:
            if isinstance(record, Crowd):
                place = Place(launch.environment.ranks, processors, record.variation)
                candidate = Candidate(record.name, record.kind, record.wait)
                measured = found.setdefault((place, candidate, record.compute_ns / 1e3), Measured())
                _put(measured.period_us, launch, record, _period_ns(record) / 1e3)
                switches = (record.voluntary + record.involuntary) / record.episodes
                _put(measured.switches, launch, record, switches)
                _put(measured.busy, launch, record, record.cpu_ns / record.elapsed_ns / processors)
    points = [
        Point(place, candidate, compute_us, measured, _simulated(place, candidate, compute_us, scheduler))
        for (place, candidate, compute_us), measured in sorted(found.items(), key=lambda item: item[0])
    ]
    return Crowds(scheduler, points)


def _scheduler(launches: Iterable[Launch]) -> Scheduler:
    """Medians over launches; a stretch that foreign work cut short pulls a mean, not a median."""
    found: dict[str, list[float]] = {"quantum": [], "yield": [], "sleep": []}
    for launch in launches:
        for each in launch.scheduling:
            if each.quantum_ns:
                found["quantum"].append(float(np.median(each.quantum_ns)) / 1e3)
            found["sleep"].append(each.sleep_switch_ns / 1e3)
        for floor in launch.floors.values():
            if floor.yield_switch_ns:
                found["yield"].append(floor.yield_switch_ns / 1e3)
    if not found["quantum"]:
        raise ValueError("no launch saw a quantum end: the machine was too busy, or its quanta too long")
    return Scheduler(*map(statistics.median_interval, found.values()))


def _period_ns(record: Crowd) -> float:
    if record.episodes >= _FEW:
        return record.elapsed_ns / record.episodes
    return float(np.mean(record.period_ns))


def _put(series: dict[int, dict[int, float]], launch: Launch, record: Crowd, value: float) -> None:
    series.setdefault(launch.group, {})[record.round] = value


def model_of(candidate: Candidate) -> Model:
    waiting = "smart" if candidate.name in _SLEEPERS else _WAITINGS[candidate.wait]
    return Model(_SHAPES.get(candidate.name, candidate.name), waiting)


def _simulated(place: Place, candidate: Candidate, compute_us: float, scheduler: Scheduler) -> Simulated:
    model = model_of(candidate)
    return _simulate(place, model, compute_us, scheduler.quantum_us.value, scheduler.switch_us(model))


@cache  # several candidates have one model
def _simulate(
    place: Place, model: Model, compute_us: float, quantum_us: float, switch_us: float
) -> Simulated:
    """Medians over orders; a machine has one of them in each visit."""
    program = tollbar.SchedulerApplication(
        threads=place.ranks, compute_us=compute_us, variation=place.variation, barriers=_BARRIERS,
        barrier=model.barrier, waiting=model.waiting, order="shuffled",
    )  # fmt: skip
    outcomes = [
        tollbar.simulate_scheduler(
            [program], processors=place.processors, quantum_us=quantum_us, switch_us=switch_us, seed=seed
        )
        for seed in range(ORDERS)
    ]
    return Simulated(
        float(np.median([each.applications[0].per_barrier_us for each in outcomes])),
        float(np.median([each.switches / _BARRIERS for each in outcomes])),
        float(np.median([1 - each.idle_us / (place.processors * each.completed_us) for each in outcomes])),
    )


def why_not(point: Point, scheduler: Scheduler) -> str:
    """What the counts say about the difference between model and machine at a point."""
    simulated, model = point.simulated, model_of(point.candidate)
    # Who spins gives its processor away when the quantum ends, and not before.
    switch_us = scheduler.quantum_us.value if model.waiting == "spin" else scheduler.switch_us(model)
    more = point.switches - simulated.switches
    counts = f"{point.switches:.3g} switches an episode, {simulated.switches:.3g} in the model"
    if point.ratio < 1:
        return counts if abs(more) > 0.1 * simulated.switches else f"faster, with {counts}"
    if point.busy < simulated.busy - _FOREIGN_LOAD:
        return (
            f"the threads had {point.busy:.0%} of the processors' time, {simulated.busy:.0%} in the model: "
            "they slept, or others ran"
        )
    extra_us = point.period.value - simulated.period_us
    if more * switch_us / point.place.processors > extra_us / 2:
        return counts
    each_us = extra_us / point.place.turns
    return f"a barrier costs each thread {each_us:.3g} µs, for which the model has nothing; {counts}"


def standings(points: Iterable[Point]) -> list[statistics.Standing]:
    """The candidates of one situation and computing time, fastest first."""
    return statistics.judge({point.candidate: {"period": point.measured.period_us} for point in points})

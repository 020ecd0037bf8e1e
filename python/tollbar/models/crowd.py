# SPDX-License-Identifier: Apache-2.0
"""Crowded barriers measured, beside what the simulator says with this machine's quantum and switches.

The model of Markatos et al. 1991 gives barriers no cost but waiting and switching. Every barrier is compared
with the model's barrier of its shape and way of waiting; where they part, the counted switches and the
processor time tell what the model leaves out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl

import tollbar
from tollbar.data import places, statistics, summaries
from tollbar.data.places import Candidate, Here
from tollbar.data.samples import Samples
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
    here: Here
    simulated: Simulated

    def _median(self, metric: str) -> Interval:
        found = self.here.median(self.candidate, metric)
        assert found is not None
        return found

    @property
    def period(self) -> Interval:
        """In microseconds."""
        return self._median("period_ns").times(1e-3)

    @property
    def launches_us(self) -> list[float]:
        """The period in each launch."""
        series = self.here.series(self.candidate, "period_ns")
        return [ns / 1e3 for ns in statistics.launch_medians(series).values()]

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
        """An episode, of all threads."""
        return self._median("switches").value

    @property
    def busy(self) -> float:
        """The share of the processors' time that it had."""
        return self._median("busy_share").value


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


#: What tells situations of crowds apart.
_BY = ("ranks", "usable", "workload")


def gather(found: Samples) -> Crowds | None:
    """The points of a run; None where there are none of crowds."""
    if found.of("sleep_switch_ns").is_empty():
        return None
    scheduler = _scheduler(found)
    of_crowds = found.rows.filter(pl.col("metric").is_in(["period_ns", "switches", "busy_share"]))
    points = []
    for situation, here in places.gather(dataclasses.replace(found, rows=of_crowds), _BY).items():
        compute_us, _, share = situation.workload.partition("~")
        place = Place(situation.ranks, situation.usable, float(share or 0))
        points += [_point(place, each, float(compute_us), here, scheduler) for each in here.candidates]
    return Crowds(scheduler, sorted(points, key=lambda each: (each.place, each.candidate, each.compute_us)))


def _point(place: Place, candidate: Candidate, us: float, here: Here, scheduler: Scheduler) -> Point:
    return Point(place, candidate, us, here, _simulated(place, candidate, us, scheduler))


def _scheduler(found: Samples) -> Scheduler:
    """Medians; a stretch that foreign work cut short pulls a mean, not a median."""
    rounds = summaries.rounds(found.rows.filter(pl.col("value") > 0), ["metric"])
    known = [
        (rounds.filter(metric=metric)["value"] / 1e3).to_list()
        for metric in ("quantum_ns", "yield_switch_ns", "sleep_switch_ns")
    ]
    if not known[0]:
        raise ValueError("no launch saw a quantum end: the machine was too busy, or its quanta too long")
    return Scheduler(*map(statistics.median_interval, known))


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
    return statistics.judge(
        {point.candidate: {"period": point.here.series(point.candidate, "period_ns")} for point in points}
    )

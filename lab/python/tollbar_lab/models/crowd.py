# SPDX-License-Identifier: Apache-2.0
"""Crowded barriers measured, beside what the simulator says with this machine's quantum and switches.

The model of Markatos et al. 1991 gives barriers no cost but waiting and switching. Every barrier is compared
with the model's barrier of its shape and way of waiting, and the counted switches with the model's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from tollbar.data import cells, statistics
from tollbar.data.neighbours import FIRST
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import rounds

import tollbar_lab

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
_ORDERS = 7  # in which threads take turns: a kernel goes by who came first, so several are simulated


class Model(NamedTuple):
    """The barrier and the way of waiting that stand for a candidate in the simulator."""

    barrier: str
    waiting: str


@dataclass(frozen=True)
class Simulated:
    """The same in the model."""

    period_us: float
    switches: float
    busy: float


@dataclass(frozen=True)
class Scheduler:
    """The measured times of this machine's scheduler."""

    quantum_us: Interval
    yield_us: Interval  #: a switch by yielding
    sleep_us: Interval  #: a switch by waking another thread and sleeping


@dataclass(frozen=True)
class Point:
    """One candidate in one situation, measured and simulated."""

    place: Situation
    candidate: Candidate
    period: Interval  #: a turn, in microseconds
    switches: float  #: a turn, of all threads
    busy: float  #: the share of the processors' time that it had
    simulated: Simulated

    @property
    def compute_us(self) -> float:
        return self.place.compute_us

    @property
    def overhead_pct(self) -> float:
        return 100 * (self.period.value / alone_us(self.place) - 1)

    @property
    def simulated_overhead_pct(self) -> float:
        return 100 * (self.simulated.period_us / alone_us(self.place) - 1)

    @property
    def threads(self) -> str:
        """The situation in words, without the computing time."""
        shape = f"times vary by {self.place.variation:.0%}" if self.place.variation else "equal times"
        on = "1 processor" if self.place.processors == 1 else f"{self.place.processors} processors"
        return f"{self.place.ranks} threads on {on}, {shape}"


@dataclass(frozen=True)
class Crowds:
    """A whole run: the scheduler, and every point in the order of situation, candidate and computing time."""

    scheduler: Scheduler
    points: list[Point]


def alone_us(place: Situation) -> float:
    """Computing alone, on the processor with most threads."""
    return -(-place.ranks // place.processors) * place.compute_us


def gather(samples: Samples) -> Crowds | None:
    """The points of runs that computed on too few processors; None where nothing tells the scheduler's times. Raises
    ValueError where no quantum was seen to end."""
    if samples.of("sleep_switch_ns").is_empty():
        return None
    scheduler = _scheduler(samples)
    points = [
        point
        for place, measured in cells.gather(samples, *_METRICS).items()
        if place.neighbours == FIRST and place.compute_us and place.crowded
        for candidate in measured.candidates
        if (point := _point(place, candidate, measured, scheduler))
    ]
    return Crowds(scheduler, sorted(points, key=_order))


#: A turn, its switches, and the share of the processors' time that was used.
_METRICS = ("period_ns", "switches", "busy_share")


def _point(place: Situation, candidate: Candidate, measured: Measurements, scheduler: Scheduler) -> Point | None:
    known = [median for metric in _METRICS if (median := measured.median(candidate, metric))]
    if len(known) < len(_METRICS):
        return None
    period, switches, busy = known
    simulated = _simulated(place, candidate, scheduler)
    return Point(place, candidate, period.times(1e-3), switches.value, busy.value, simulated)


def _order(point: Point) -> tuple[object, ...]:
    along = point.place._replace(computing="")
    return along, point.place.variation, point.candidate, point.compute_us


def _scheduler(samples: Samples) -> Scheduler:
    """Medians; a stretch that foreign work cut short pulls a mean, not a median."""
    metrics = ("quantum_ns", "yield_switch_ns", "sleep_switch_ns")
    stretches = rounds(samples.of(*metrics).filter(pl.col("value") > 0), ["metric"])
    known = [(stretches.filter(metric=metric)["value"] / 1e3).to_list() for metric in metrics]
    if not known[0]:
        raise ValueError("no launch saw a quantum end: the machine was too busy, or its quanta too long")
    return Scheduler(*map(statistics.median_interval, known))


def model_of(candidate: Candidate) -> Model:
    waiting = "smart" if candidate.name in _SLEEPERS else _WAITINGS[candidate.wait]
    return Model(_SHAPES.get(candidate.name, candidate.name), waiting)


def switch_us(scheduler: Scheduler, model: Model) -> float:
    """A switch between threads that wait in this way."""
    return (scheduler.sleep_us if model.waiting == "smart" else scheduler.yield_us).value


def _simulated(place: Situation, candidate: Candidate, scheduler: Scheduler) -> Simulated:
    """The same in the model, with the times of that scheduler."""
    model = model_of(candidate)
    return _simulate(place, model, place.compute_us, scheduler.quantum_us.value, switch_us(scheduler, model))


@cache  # several candidates have one model
def _simulate(place: Situation, model: Model, compute_us: float, quantum_us: float, switch_us: float) -> Simulated:
    """Medians over orders; a machine has one of them in each visit."""
    program = tollbar_lab.SchedulerApplication(
        threads=place.ranks,
        compute_us=compute_us,
        variation=place.variation,
        barriers=_BARRIERS,
        barrier=model.barrier,
        waiting=model.waiting,
        order="shuffled",
    )
    outcomes = [
        tollbar_lab.simulate_scheduler(
            [program], processors=place.processors, quantum_us=quantum_us, switch_us=switch_us, seed=seed
        )
        for seed in range(_ORDERS)
    ]
    return Simulated(
        float(np.median([run.applications[0].per_barrier_us for run in outcomes])),
        float(np.median([run.switches / _BARRIERS for run in outcomes])),
        float(np.median([1 - run.idle_us / (place.processors * run.completed_us) for run in outcomes])),
    )

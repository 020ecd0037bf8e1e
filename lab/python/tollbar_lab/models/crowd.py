# SPDX-License-Identifier: Apache-2.0
"""Crowded barriers measured, beside what the simulator says with this machine's quantum and switches.

The model of Markatos et al. 1991 gives barriers no cost but waiting and switching. Every barrier is compared
with the model's barrier of its shape and way of waiting, and the counted switches with the model's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from tollbar.data import places, statistics
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
class Scheduler:
    """The measured times of this machine's scheduler."""

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

    place: Situation  #: with no computing time, which changes along a curve
    candidate: Candidate
    compute_us: float
    measured: Measurements
    simulated: Simulated

    def _median(self, metric: str) -> Interval:
        median = self.measured.median(self.candidate, metric)
        assert median is not None
        return median

    @property
    def period(self) -> Interval:
        """The loop period in microseconds."""
        return self._median("period_ns").times(1e-3)

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
    def places(self) -> list[Situation]:
        return list(dict.fromkeys(point.place for point in self.points))


#: The columns that tell situations of crowds apart.
_BY = ("ranks", "processors", "computing")


def gather(samples: Samples) -> Crowds | None:
    """The points of a run; None where there are none of crowds."""
    if samples.of("sleep_switch_ns").is_empty():
        return None
    scheduler = _scheduler(samples)
    of_crowds = samples.of("period_ns", "switches", "busy_share")
    points = []
    for situation, measured in places.gather(dataclasses.replace(samples, records=of_crowds), _BY).items():
        compute_us = situation.compute_us
        along = situation._replace(computing=f"0~{situation.variation:g}" if situation.variation else "0")
        for candidate in measured.candidates:
            simulated = _simulated(along, candidate, compute_us, scheduler)
            points.append(Point(along, candidate, compute_us, measured, simulated))
    return Crowds(scheduler, sorted(points, key=lambda point: (point.place, point.candidate, point.compute_us)))


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


def _simulated(place: Situation, candidate: Candidate, compute_us: float, scheduler: Scheduler) -> Simulated:
    model = model_of(candidate)
    return _simulate(place, model, compute_us, scheduler.quantum_us.value, scheduler.switch_us(model))


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

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
from tollbar.data import crowds
from tollbar.data.crowds import Scheduler
from tollbar.data.places import Candidate, Situation
from tollbar.data.samples import Samples

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
class Point(crowds.Point):
    """One candidate at one computing time, measured and simulated."""

    simulated: Simulated

    @property
    def simulated_overhead_pct(self) -> float:
        return 100 * (self.simulated.period_us / self.alone_us - 1)


@dataclass(frozen=True)
class Crowds:
    """A whole run: the scheduler, and every point in the order of situation, candidate and computing time."""

    scheduler: Scheduler
    points: list[Point]


def gather(samples: Samples) -> Crowds | None:
    """The points of a run; None where there are none of crowds. Raises ValueError where no quantum was seen to end."""
    measured = crowds.gather(samples)
    if measured is None:
        return None
    points = [Point(**vars(point), simulated=simulated(point, measured.scheduler)) for point in measured.points]
    return Crowds(measured.scheduler, points)


def model_of(candidate: Candidate) -> Model:
    waiting = "smart" if candidate.name in _SLEEPERS else _WAITINGS[candidate.wait]
    return Model(_SHAPES.get(candidate.name, candidate.name), waiting)


def switch_us(scheduler: Scheduler, model: Model) -> float:
    """A switch between threads that wait in this way."""
    return (scheduler.sleep_us if model.waiting == "smart" else scheduler.yield_us).value


def simulated(point: crowds.Point, scheduler: Scheduler) -> Simulated:
    """The point in the model, with the times of that scheduler."""
    model = model_of(point.candidate)
    return _simulate(point.place, model, point.compute_us, scheduler.quantum_us.value, switch_us(scheduler, model))


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

# SPDX-License-Identifier: Apache-2.0
"""Crowded barriers as they were measured: a run of `tollbar bench threads --cpus`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import polars as pl

from tollbar.data import places, statistics
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import rounds


@dataclass(frozen=True)
class Scheduler:
    """The measured times of this machine's scheduler."""

    quantum_us: Interval
    yield_us: Interval  #: a switch by yielding
    sleep_us: Interval  #: a switch by waking another thread and sleeping


@dataclass(frozen=True)
class Point:
    """One candidate at one computing time."""

    place: Situation  #: with no computing time, which changes along a curve
    candidate: Candidate
    compute_us: float
    measured: Measurements

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
    """The points of a run; None where there are none of crowds. Raises ValueError where no quantum was seen to end."""
    if samples.of("sleep_switch_ns").is_empty():
        return None
    scheduler = _scheduler(samples)
    of_crowds = samples.of("period_ns", "switches", "busy_share")
    points = []
    for situation, measured in places.gather(dataclasses.replace(samples, records=of_crowds), _BY).items():
        along = situation._replace(computing=f"0~{situation.variation:g}" if situation.variation else "0")
        points += [Point(along, candidate, situation.compute_us, measured) for candidate in measured.candidates]
    return Crowds(scheduler, sorted(points, key=lambda point: (point.place, point.candidate, point.compute_us)))


def _scheduler(samples: Samples) -> Scheduler:
    """Medians; a stretch that foreign work cut short pulls a mean, not a median."""
    metrics = ("quantum_ns", "yield_switch_ns", "sleep_switch_ns")
    stretches = rounds(samples.of(*metrics).filter(pl.col("value") > 0), ["metric"])
    known = [(stretches.filter(metric=metric)["value"] / 1e3).to_list() for metric in metrics]
    if not known[0]:
        raise ValueError("no launch saw a quantum end: the machine was too busy, or its quanta too long")
    return Scheduler(*map(statistics.median_interval, known))

# SPDX-License-Identifier: Apache-2.0
"""Workloads that were measured: by where and what was computed, how long a run took with each barrier.

How much has to be computed for a wanted efficiency: the text of Buntinas et al., section 4.3, defines it as
computing time; what their Figure 7 plots is the whole loop. Both are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data import places
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval


@dataclass(frozen=True)
class Run:
    """A workload with one barrier, in nanoseconds; its metrics are those of samples.METRICS["work"]."""

    measurements: Measurements
    candidate: Candidate

    def _median(self, metric: str) -> Interval:
        median = self.measurements.median(self.candidate, metric)
        if median is None:
            raise ValueError(f"{self.candidate.label} has no {metric}")
        return median

    @property
    def run(self) -> Interval:
        return self._median("run_ns")

    @property
    def computing_ns(self) -> float:
        return self._median("computing_ns").value

    @property
    def longest_ns(self) -> float:
        """No barrier needs less."""
        return self._median("longest_ns").value

    @property
    def barrier_ns(self) -> float:
        """The time that each barrier adds to the least that a run can take; below 0 where the clock is too coarse."""
        return self._median("barrier_ns").value

    @property
    def efficiency(self) -> float:
        """The share of a run that is computing."""
        return self.computing_ns / self.run.value


#: The columns that tell places of workloads apart.
_BY = ("over", "ranks", "placement", "computing")
#: workload -> candidate -> what was measured
Workloads = dict[str, dict[Candidate, Run]]


def gather(samples: Samples) -> dict[Situation, Workloads]:
    """Everything that was measured of workloads, by place; workloads in the order in which they were met."""
    order = samples.records["computing"].unique(maintain_order=True).to_list()
    there: dict[Situation, Workloads] = {}
    for place, measured in places.gather(samples, _BY).items():
        runs = {
            candidate: Run(measured, candidate)
            for candidate in measured.candidates
            if measured.median(candidate, "run_ns")
        }
        if runs:
            where = Situation(over=place.over, ranks=place.ranks, placement=place.placement)
            there.setdefault(where, {})[place.computing] = runs
    return {where: dict(sorted(by.items(), key=lambda item: order.index(item[0]))) for where, by in there.items()}


@dataclass(frozen=True)
class Needed:
    """In microseconds."""

    compute_us: float  #: the computing in a loop
    loop_us: float  #: that, and the barrier


def loops_us(workloads: Workloads, candidate: Candidate) -> dict[float, float]:
    """Computing that does not vary -> the loop of it and a barrier."""
    loops = {
        float(name): by[candidate].run.value / 1e3
        for name, by in workloads.items()
        if name.replace(".", "").isdigit() and candidate in by
    }
    return dict(sorted(loops.items()))


def needed(loops: Mapping[float, float], efficiency: float) -> Needed | None:
    """The least computing from which on every measured loop is that efficient; None where none is.

    Between two measured loops the loop's time is a straight line.
    """
    short = [us - efficiency * loop_us for us, loop_us in loops.items()]  # of efficient; below 0: too little
    below = max((number for number, shortage in enumerate(short) if shortage < 0), default=None)
    if below is None or below + 1 == len(short):
        return None
    before, after = list(loops)[below : below + 2]
    part = -short[below] / (short[below + 1] - short[below])
    compute_us = before + part * (after - before)
    return Needed(compute_us, compute_us / efficiency)

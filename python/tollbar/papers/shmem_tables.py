# SPDX-License-Identifier: Apache-2.0
"""The split-mode paper's summary table with what was measured here beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data.places import Measurements
from tollbar.data.statistics import Interval, Ratio
from tollbar.models.shmem_published import EXPERIMENTS, ITERATIONS, OTHERS, Experiment

#: The plan that the paper compares with.
REFERENCE = EXPERIMENTS[0]


@dataclass(frozen=True)
class Row:
    """One experiment with so many PEs; None where it was not measured."""

    experiment: Experiment
    pes: int
    seconds: Interval | None  #: the exchange, as many iterations as in the paper
    ratio: Ratio | None  #: of that to the same with MPI_Ibarrier
    period: Interval | None  #: post and wait, in nanoseconds


def rows(there: Mapping[int, Measurements]) -> list[Row]:
    """Each experiment with each number of PEs, in the paper's order. Unmeasured ones of ours are left out."""
    found = []
    for experiment in (*EXPERIMENTS, *OTHERS):
        some = [_row(experiment, pes, measured) for pes, measured in there.items()]
        if experiment.seconds is not None or any(row.seconds or row.period for row in some):
            found += some
    return found


def _row(experiment: Experiment, pes: int, measured: Measurements) -> Row:
    taken = measured.median(experiment.barrier, "exchange_ns")
    ratio = measured.ratio(experiment.barrier, REFERENCE.barrier, "exchange_ns")
    period = measured.median(experiment.barrier, "period_ns")
    return Row(experiment, pes, taken and taken.times(ITERATIONS / 1e9), ratio, period)

# SPDX-License-Identifier: Apache-2.0
"""The split-mode paper's summary table with what was measured here beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data.places import Here
from tollbar.data.statistics import Interval, Ratio
from tollbar.models.shmem_published import EXPERIMENTS, ITERATIONS, OTHERS, PES, Experiment
from tollbar.report import tables
from tollbar.report.plots import time_text

#: What the paper compares with.
REFERENCE = EXPERIMENTS[0]


@dataclass(frozen=True)
class Row:
    """One experiment with so many PEs; None where it was not measured."""

    experiment: Experiment
    pes: int
    seconds: Interval | None  #: the exchange, as many iterations as in the paper
    ratio: Ratio | None  #: of that to the same with MPI_Ibarrier
    period: Interval | None  #: post and wait, in nanoseconds


def rows(there: Mapping[int, Here]) -> list[Row]:
    """Each experiment with each number of PEs, in the paper's order. Unmeasured ones of ours are left out."""
    found = []
    for experiment in (*EXPERIMENTS, *OTHERS):
        some = [_row(experiment, pes, here) for pes, here in there.items()]
        if experiment.seconds is not None or any(row.seconds or row.period for row in some):
            found += some
    return found


def _row(experiment: Experiment, pes: int, here: Here) -> Row:
    taken = here.median(experiment.barrier, "exchange_ns")
    ratio = here.ratio(experiment.barrier, REFERENCE.barrier, "exchange_ns")
    period = here.median(experiment.barrier, "period_ns")
    return Row(experiment, pes, taken and taken.times(ITERATIONS / 1e9), ratio, period)


def published_ratio(experiment: Experiment) -> float | None:
    """The paper's seconds over the paper's seconds with MPI_Ibarrier."""
    if experiment.seconds is None or REFERENCE.seconds is None:
        return None
    return experiment.seconds / REFERENCE.seconds


def by_experiment(there: Mapping[int, Here]) -> dict[Experiment, list[Row]]:
    """The rows of each experiment."""
    found = rows(there)
    met = dict.fromkeys(row.experiment for row in found)
    return {each: [row for row in found if row.experiment == each] for each in met}


def markdown(there: Mapping[int, Here]) -> str:
    """The exchange, and post and wait, as Markdown tables for a page."""
    columns, exchange, times = [f"{pes} PEs" for pes in there], [], []
    for each, some in by_experiment(there).items():
        published = f"{each.seconds:.3f} s" if each.seconds else ""
        seconds = [f"{row.seconds.value:.3g} s" if row.seconds else "" for row in some]
        exchange.append([each.name, published, *seconds])
        if any(row.period for row in some):
            times.append([each.name, *(time_text(row.period.value) if row.period else "" for row in some)])
    return (
        f"The exchange, {ITERATIONS} iterations:\n\n"
        f"{tables.markdown_table(['experiment', f'published, {PES} PEs', *columns], exchange)}\n"
        f"Post and wait, back to back:\n\n{tables.markdown_table(['experiment', *columns], times)}"
    )


#: What `everything` gives; medians over launches with their 95 % intervals. The exchange is one iteration.

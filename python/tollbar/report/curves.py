# SPDX-License-Identifier: Apache-2.0
"""The curves of the report: which candidates stand together in a figure, and their points."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tollbar.data import statistics
from tollbar.data.comparison import Candidate, Comparison, Measured, Situation, pooled
from tollbar.data.statistics import Series
from tollbar.report import plots
from tollbar.report.plots import Line

Comparisons = Mapping[Situation, Comparison]
Values = Callable[[Measured], Series]

#: Eight of ten rounds lie in the band.
_BAND = (0.1, 0.9)
_MOST_BANDS = 6  # more would cover each other


def latency(measured: Measured) -> Series:
    return measured.latency


def period(measured: Measured) -> Series:
    return measured.period


def skew(measured: Measured) -> Series:
    return measured.skew


def over_floor(measured: Measured) -> Series:
    return measured.over_floor("period")


def line(
    comparisons: Comparisons, placement: str, candidate: Candidate, values_of: Values, colour: int
) -> Line | None:
    """The candidate's curve over the thread counts of one placement; None where it was not measured."""
    points = []
    for situation, comparison in comparisons.items():
        measured = comparison.candidates.get(candidate)
        values = values_of(measured) if measured else None
        if situation.placement == placement and values:
            low, high = np.quantile(pooled(values), _BAND)
            points.append((situation.ranks, statistics.summary(values).value, low, high))
    if not points:
        return None
    columns = (list(column) for column in zip(*points, strict=True))
    return Line(candidate.label, *columns, colour=colour, dashed=colour >= plots.COLOURS)


def floor(comparisons: Comparisons, placement: str, crowded_only: bool = False) -> Line | None:
    """The physical floor: one cache-line transfer, or B(N) where threads share processors."""
    points = [
        (situation.ranks, statistics.summary(comparison.floor).value)
        for situation, comparison in comparisons.items()
        if situation.placement == placement and comparison.floor and (comparison.crowded or not crowded_only)
    ]
    if not points:
        return None
    label = "bound B(N)" if crowded_only else "physical floor"
    return Line(label, *(list(column) for column in zip(*points, strict=True)), bound=True)


def find(comparisons: Comparisons, name: str, wait: str | None = None) -> Candidate | None:
    """The first candidate of that name in any situation."""
    return next(filter(None, (comparison.find(name, wait) for comparison in comparisons.values())), None)


def named(
    comparisons: Comparisons, kinds: Iterable[str], waits: Sequence[str] | None = None
) -> list[Candidate]:
    """All candidates of these kinds, in the order in which they were met first."""
    met: dict[Candidate, None] = {}
    for comparison in comparisons.values():
        for candidate in comparison.candidates:
            if candidate.kind in kinds and (waits is None or candidate.wait in waits):
                met[candidate] = None
    order = {kind: number for number, kind in enumerate(kinds)}
    return sorted(met, key=lambda candidate: order[candidate.kind])


def several(
    comparisons: Comparisons, placement: str, candidates: Sequence[Candidate], values_of: Values,
    with_floor: bool = True,
) -> list[Line]:  # fmt: skip
    """One curve a candidate, each with a colour of its own, and the floor."""
    lines = [line(comparisons, placement, each, values_of, colour) for colour, each in enumerate(candidates)]
    drawn = [each for each in lines if each is not None]
    if len(drawn) > _MOST_BANDS:
        drawn = [dataclasses.replace(each, low=None, high=None) for each in drawn]
    bound = floor(comparisons, placement) if with_floor else None
    return [*drawn, bound] if bound else drawn


def paper(comparisons: Comparisons, candidates: Sequence[Candidate]) -> list[Line]:
    """Curves as in Seyedroudbari and Kadiyala 2020, Fig. 7 to 9: pinned, free (dashed), and the floor."""
    lines = []
    for number, candidate in enumerate(candidates):
        for step, placement in enumerate(("pinned", "free")):
            drawn = line(comparisons, placement, candidate, latency, 2 * number + step)
            if drawn:
                label = f"{drawn.label}, {placement}"
                lines.append(dataclasses.replace(drawn, label=label, dashed=placement == "free"))
    bound = floor(comparisons, "pinned") or floor(comparisons, "free")
    return [*lines, bound] if bound else lines


def modes(comparison: Comparison, most: int = 6) -> dict[str, np.ndarray]:
    """The latencies of the candidates whose episodes take very different times, the most uneven ones first.

    A median says little about these; a factor of 3 between the 10th and the 90th percentile counts as uneven.
    """
    uneven = []
    for candidate, measured in comparison.candidates.items():
        values = measured.latencies()
        if len(values) >= 20:
            low, high = np.quantile(values, _BAND)
            if low > 0 and high / low > 3:
                uneven.append((high / low, candidate.label, values))
    uneven.sort(key=lambda each: -each[0])
    return {label: values for _, label, values in uneven[:most]}


def figure(name: str, lines: Sequence[Line], ylabel: str, times: bool = True) -> str:
    """The figure of these curves; empty where there are none."""
    return plots.against(name, lines, ylabel, times) if lines else ""

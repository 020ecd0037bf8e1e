# SPDX-License-Identifier: Apache-2.0
"""The curves of the report: a candidate over numbers of participants or anything else; floors, models."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from tollbar.data.places import Candidate, Measurements
from tollbar.report import candidates
from tollbar.report.charts import Line

#: Eight of ten rounds lie in the band.
BAND = (0.1, 0.9)
_MOST_BANDS = 6  # more would cover each other

#: The x axis, a number of participants -> what was measured there.
Along = Mapping[int, Measurements]


def line(
    along: Along,
    candidate: Candidate | str,
    metric: str | None = None,
    label: str = "",
    colour: int | None = None,
    band: bool = True,
) -> Line | None:
    """The medians of a candidate; by default its time, in its own colour. None where there are none."""
    own = candidate.label if isinstance(candidate, Candidate) else candidate
    points = []
    for x, measured in sorted(along.items()):
        what = metric or measured.time(candidate)
        if median := measured.median(candidate, what):
            low, high = measured.quantiles(candidate, what, BAND)
            points.append((x, median.value, low, high))
    if not points:
        return None
    along_x, middle, lows, highs = (list(column) for column in zip(*points, strict=True))
    colour = candidates.colour(own) if colour is None else colour
    return Line(label or own, along_x, middle, lows if band else None, highs if band else None, colour)


def several(along: Along, some: Sequence[Candidate | str], metric: str | None = None, least: int = 1) -> list[Line]:
    """A curve for each candidate with so many points, without bands where there are too many of them."""
    found = [each for each in (line(along, one, metric) for one in some) if each and len(each.x) >= least]
    colours = candidates.colours(each.label for each in found)
    coloured = [dataclasses.replace(each, colour=colours[each.label]) for each in found]
    if len(found) <= _MOST_BANDS:
        return coloured
    return [dataclasses.replace(each, low=None, high=None) for each in coloured]


def floor(along: Along, label: str = "physical floor", crowded_only: bool = False) -> list[Line]:
    """One cache-line transfer, or B(N) where threads share processors."""
    points = {
        x: measured.floor.value
        for x, measured in sorted(along.items())
        if measured.floor and (measured.place.crowded or not crowded_only)
    }
    return [Line(label, list(points), list(points.values()), bound=True)] if points else []


def modes(measured: Measurements, most: int = 6) -> dict[str, np.ndarray]:
    """The latencies of the candidates whose episodes take very different times, the most uneven ones first.

    A median says little about these; a factor of 3 between the 10th and the 90th percentile counts as uneven.
    """
    uneven = []
    for candidate in measured.candidates:
        values = measured.latencies(candidate)
        if len(values) >= 20:
            low, high = np.quantile(values, BAND)
            if low > 0 and high / low > 3:
                uneven.append((high / low, candidate.label, values))
    uneven.sort(key=lambda each: -each[0])
    return {label: values for _, label, values in uneven[:most]}

# SPDX-License-Identifier: Apache-2.0
"""Curves of barriers between processes: over ranks, predicted beside measured, and over threads a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tollbar.data import comparison, statistics
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.mpi_places import Places
from tollbar.models import prediction
from tollbar.models.prediction import Model
from tollbar.report.plots import Grid, Line

_BAND = (0.1, 0.9)  # eight of ten rounds
ByNumber = Mapping[int, Comparison]


def time_ns(each: Comparison, candidate: Candidate) -> float | None:
    """The median latency; the median loop period where no episode was stamped."""
    measured = each.candidates.get(candidate)
    found = measured and (comparison.summarise(measured.latency) or comparison.summarise(measured.period))
    return found.value if found else None


def measured(
    found: ByNumber, candidate: Candidate, label: str, colour: int, band: bool = True
) -> Line | None:
    """The candidate over the numbers it was measured with."""
    points = []
    for number, each in sorted(found.items()):
        value = time_ns(each, candidate)
        if value is not None:
            series = each.candidates[candidate].latency or each.candidates[candidate].period
            points.append((number, value, *np.quantile(comparison.pooled(series), _BAND)))
    if not points:
        return None
    x, middle, low, high = (list(column) for column in zip(*points, strict=True))
    return Line(label, x, middle, low if band else None, high if band else None, colour=colour)


def predicted(model: Model, candidate: Candidate, ranks: Sequence[int], colour: int) -> Line | None:
    """What the model says for the same ranks, in the same colour."""
    x, y = prediction.curve(model, candidate.name, ranks)
    return Line(f"{candidate.name}, predicted", x, y, colour=colour, predicted=True) if x else None


def with_predictions(found: ByNumber, candidates: Sequence[Candidate], model: Model | None) -> list[Line]:
    """Each candidate measured, and where there is a model, predicted."""
    lines = []
    for colour, candidate in enumerate(candidates):
        line = measured(found, candidate, candidate.label, colour, band=len(candidates) <= 4)
        if line is None:
            continue
        lines.append(line)
        if model and (foretold := predicted(model, candidate, [int(x) for x in line.x], colour)):
            lines.append(foretold)
    return lines


def model_of(found: ByNumber) -> Model | None:
    """The LogP model of these processes: from measured parameters, else from dissemination's first point."""
    if not found:
        return None
    usable = max(each.usable for each in found.values())
    points = []
    for ranks, each in found.items():
        candidate = each.find("dissemination", "messages") or each.find("dissemination")
        value = time_ns(each, candidate) if candidate else None
        if value is not None:
            points.append((ranks, value))
    return prediction.fitted(points, usable)


def over_ranks(places: Places, candidate: Candidate) -> list[Line]:
    """A curve over the ranks for each number of threads a rank (Seyedroudbari and Kadiyala, Fig. 13a)."""
    return _sections(places, candidate, "ranks", "threads")


def over_threads(places: Places, candidate: Candidate) -> list[Line]:
    """A curve over the threads a rank for each number of ranks (the same, Fig. 13b)."""
    return _sections(places, candidate, "threads", "ranks")


def _sections(places: Places, candidate: Candidate, along: str, across: str) -> list[Line]:
    sections: dict[int, dict[int, Comparison]] = {}
    for place, each in places.items():
        if candidate in each.candidates:
            sections.setdefault(getattr(place, across), {})[getattr(place, along)] = each
    lines = [
        measured(section, candidate, f"{number} {across}", colour, band=len(sections) <= 4)
        for colour, (number, section) in enumerate(sorted(sections.items()))
    ]
    return [line for line in lines if line]


def grid(places: Places, candidate: Candidate) -> Grid | None:
    """The time for each pair of threads a rank and ranks (the same, Fig. 14)."""
    values = {
        (place.threads, place.ranks): value
        for place, each in places.items()
        if (value := time_ns(each, candidate)) is not None
    }
    if not values:
        return None
    threads, ranks = (sorted(set(numbers)) for numbers in zip(*values, strict=True))
    return Grid(threads, ranks, values)


def widest(places: Places, candidate: Candidate) -> float:
    """How far apart eight of ten rounds lie where they do most, as a part of the median there."""
    found = [each.candidates[candidate] for each in places.values() if candidate in each.candidates]
    bands = [np.quantile(comparison.pooled(one.latency or one.period), (*_BAND, 0.5)) for one in found]
    return max(float((high - low) / middle) for low, high, middle in bands)


def launches(found: ByNumber, candidates: Sequence[Candidate]) -> int:
    """The fewest launches that a point of these candidates stands on."""
    counts = [
        statistics.summary(series).count
        for each in found.values()
        for candidate in candidates
        if (one := each.candidates.get(candidate)) and (series := one.latency or one.period)
    ]
    return min(counts, default=0)

# SPDX-License-Identifier: Apache-2.0
"""The curves of the report: a candidate over numbers of participants or anything else; floors, models."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from tollbar.data.places import Candidate, Here, Place
from tollbar.models import prediction
from tollbar.models.prediction import Model
from tollbar.report import candidates
from tollbar.report.plots import Grid, Line

#: Eight of ten rounds lie in the band.
BAND = (0.1, 0.9)
_MOST_BANDS = 6  # more would cover each other

#: What is on the x axis -> what was measured there.
Along = Mapping[float, Here]


@dataclass(frozen=True)
class Figure:
    """One picture with what has to be known to read it."""

    name: str
    caption: str
    svg: Markup


def drawn(
    name: str, caption: str, lines: Any, draw: Callable[..., str], *axes: str, **more: str
) -> list[Figure]:
    """The figure of these lines (or whatever is drawn); none where there are none."""
    return [Figure(name, caption, Markup(draw(name, lines, *axes, **more)))] if lines else []


def line(
    along: Along, candidate: Candidate | str, metric: str | None = None, label: str = "",
    colour: int | None = None, band: bool = True,
) -> Line | None:  # fmt: skip
    """The medians of a candidate; by default its time, in its own colour. None where there are none."""
    own = candidate.label if isinstance(candidate, Candidate) else candidate
    points = []
    for x, here in sorted(along.items()):
        what = metric or here.time(candidate)
        if middle := here.median(candidate, what):
            ends = here.quantiles(candidate, what, BAND)
            points.append((x, middle.value, *ends))
    if not points:
        return None
    x, middle, low, high = (list(column) for column in zip(*points, strict=True))
    colour = candidates.colour(own) if colour is None else colour
    return Line(label or own, x, middle, low if band else None, high if band else None, colour)


def several(
    along: Along, some: Sequence[Candidate | str], metric: str | None = None, least: int = 1
) -> list[Line]:
    """A curve for each candidate with so many points, without bands where there are too many of them."""
    found = [each for each in (line(along, one, metric) for one in some) if each and len(each.x) >= least]
    colours = candidates.colours(each.label for each in found)
    ends = {} if len(found) <= _MOST_BANDS else {"low": None, "high": None}
    return [dataclasses.replace(each, colour=colours[each.label], **ends) for each in found]


def floor(along: Along, label: str = "physical floor", crowded_only: bool = False) -> list[Line]:
    """One cache-line transfer, or B(N) where threads share processors."""
    points = {
        x: here.floor.value
        for x, here in sorted(along.items())
        if here.floor and (here.place.crowded or not crowded_only)
    }
    return [Line(label, list(points), list(points.values()), bound=True)] if points else []


def in_placements(placed: Mapping[str, Along], some: Iterable[Candidate]) -> list[Line]:
    """Curves as in Seyedroudbari and Kadiyala 2020, Fig. 7 to 9: pinned, free (dashed), and the floor."""
    drawn = []
    for candidate in some:
        for placement, along in placed.items():
            if found := line(along, candidate, "latency_ns", f"{candidate.label}, {placement}"):
                drawn.append(dataclasses.replace(found, dashed=placement == "free"))
    return drawn + (floor(placed["pinned"]) or floor(placed["free"]))


def modes(here: Here, most: int = 6) -> dict[str, np.ndarray]:
    """The latencies of the candidates whose episodes take very different times, the most uneven ones first.

    A median says little about these; a factor of 3 between the 10th and the 90th percentile counts as uneven.
    """
    uneven = []
    for candidate in here.candidates:
        values = here.latencies(candidate)
        if len(values) >= 20:
            low, high = np.quantile(values, BAND)
            if low > 0 and high / low > 3:
                uneven.append((high / low, candidate.label, values))
    uneven.sort(key=lambda each: -each[0])
    return {label: values for _, label, values in uneven[:most]}


def with_predictions(along: Along, some: Sequence[Candidate], model: Model | None) -> list[Line]:
    """Each candidate measured, and where there is a model, predicted in the same colour."""
    lines = []
    for measured in several(along, some):
        lines.append(measured if len(some) <= 4 else dataclasses.replace(measured, low=None, high=None))
        name = next(each.name for each in some if each.label == measured.label)
        x, y = prediction.curve(model, name, [int(x) for x in measured.x]) if model else ([], [])
        if x:
            lines.append(Line(f"{name}, predicted", x, y, colour=measured.colour, predicted=True))
    return lines


def model_of(along: Along) -> Model | None:
    """The LogP model of these participants, fitted to dissemination's first points."""
    points = []
    for ranks, here in along.items():
        value = here.time_ns(here.find("dissemination", "messages") or here.find("dissemination"))
        points += [] if value is None else [(int(ranks), value)]
    return prediction.fitted(points, max((here.place.usable for here in along.values()), default=None))


def over(there: Mapping[Place, Here], candidate: Candidate, along: str, across: str) -> list[Line]:
    """A curve along `ranks` for each number of `threads`, or the other way round."""
    sections: dict[int, dict[float, Here]] = {}
    for place, here in there.items():
        if candidate in here.candidates:
            sections.setdefault(getattr(place, across), {})[getattr(place, along)] = here
    lines = [
        line(section, candidate, None, f"{number} {across}", colour, band=len(sections) <= 4)
        for colour, (number, section) in enumerate(sorted(sections.items()))
    ]
    return [each for each in lines if each]


def grid(there: Mapping[Place, Here], candidate: Candidate) -> Grid | None:
    """The time for each pair of threads a rank and ranks."""
    times = {(place.threads, place.ranks): here.time_ns(candidate) for place, here in there.items()}
    values = {pair: value for pair, value in times.items() if value is not None}
    if not values:
        return None
    threads, ranks = (sorted(set(numbers)) for numbers in zip(*values, strict=True))
    return Grid(threads, ranks, values)


def widest(there: Iterable[Here], candidate: Candidate) -> float:
    """How far apart eight of ten rounds lie where they do most, as a part of the median there."""
    found = (here.quantiles(candidate, here.time(candidate), (*BAND, 0.5)) for here in there)
    return max((high - low) / middle for low, high, middle in filter(None, found))


def launches(there: Iterable[Here], some: Iterable[Candidate]) -> int:
    """The fewest launches that a point of these candidates stands on."""
    found = [here.median(each, here.time(each)) for here in there for each in list(some)]
    return min((each.count for each in found if each), default=0)

# SPDX-License-Identifier: Apache-2.0
"""A table or figure of a paper as data: what the paper prints, what the model gives, what is measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

import tollbar
from tollbar.data.statistics import Interval

from tollbar_lab.papers.lacking import Lack
from tollbar_lab.papers.published import Value, values_of

X = float | str


@dataclass(frozen=True)
class Point:
    """One number of an exhibit; None where no paper prints it, no model gives it or nothing measured it."""

    series: str
    x: X
    published: float | None = None
    model: float | None = None  #: of the paper's machine
    measured: float | None = None  #: on this machine
    low: float | None = None  #: ends of the 95 % interval of `measured`
    high: float | None = None
    counted: float | None = None  #: `measured` by the paper's own statistic: mean time inside, or mean loop
    predicted: float | None = None  #: what the model gives for this machine
    source: str | None = None  #: where the paper prints it
    bound: bool = False  #: what is printed is the most that it may be

    @property
    def difference_pct(self) -> float | None:
        """The model against what is printed; 0 where it keeps a bound."""
        if self.bound and self.model is not None and self.published is not None and self.model <= self.published:
            return 0.0
        return _off_pct(self.model, self.published)

    @property
    def predicted_off_pct(self) -> float | None:
        """The prediction against what was measured."""
        return _off_pct(self.predicted, self.measured)


def measured_point(
    series: str, x: X, taken: Interval, predicted_us: float | None, counted: Interval | None = None
) -> Point:
    """A point in microseconds of what was measured in nanoseconds."""
    return Point(
        series,
        x,
        measured=taken.value / 1e3,
        low=_us(taken.low),
        high=_us(taken.high),
        counted=None if counted is None else counted.value / 1e3,
        predicted=predicted_us,
    )


def _us(ns: float | None) -> float | None:
    return None if ns is None else ns / 1e3


def _off_pct(value: float | None, reference: float | None) -> float | None:
    return None if value is None or not reference else round(100 * (value / reference - 1), 6) + 0.0


@dataclass(frozen=True)
class Axes:
    """The quantities along both sides, with units; logarithmic where the numbers allow it."""

    x: str
    y: str = ""
    log_x: bool = True
    log_y: bool = True


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper."""

    paper: str
    number: str  #: as the paper counts: "Figure 4a", "Table 1"
    title: str
    axes: Axes
    points: Sequence[Point]
    sentence: str  #: made from the points
    missing: Lack | None = None  #: what was not measured
    aside: tuple[str, ...] = ()  #: series that are no part of the curves: other numbers the text gives
    steps: tuple[str, ...] = ()  #: series whose model keeps its value up to the next point
    apart: str = ""  #: a regular expression: the part of a series' name that has a panel where there are many series
    drawing: str | None = None  #: SVG, where no curves are drawn

    @property
    def slug(self) -> str:
        return self.number.lower().replace(" ", "-")

    def worst(self) -> float | None:
        """The largest difference of the model from what is printed, in percent."""
        differences = [abs(point.difference_pct) for point in self.points if point.difference_pct is not None]
        return max(differences, default=None)

    @property
    def conclusion(self) -> str:
        """The sentence, and how near the prediction for this machine is to what was measured on it."""
        off = sorted(abs(p.predicted_off_pct) for p in self.points if p.predicted_off_pct is not None)
        if not off:
            return self.sentence
        many = f"{len(off)} points" if len(off) > 1 else "a point"
        return (
            f"{self.sentence} Here the model is off by {median(off):.2g} % in the middle and {off[-1]:.3g} % "
            f"at most, of {many}."
        )

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers that are printed, come from the model, were measured: how many of each."""
        return (
            sum(point.published is not None for point in self.points),
            sum(point.model is not None for point in self.points),
            sum(point.measured is not None for point in self.points),
        )


def drawing(
    paper: str,
    number: str,
    title: str,
    plan: str,
    ranks: int,
    sentence: str,
    half: Literal["arrival", "wake-up"] | None = None,
) -> Exhibit:
    """A figure that draws an algorithm: the plan and its words; of a tree one of its halves alone."""
    made = tollbar.plan(plan, ranks)
    name = f"{plan} between {ranks} ranks"
    if half is not None:
        name = f"{half} tree of {name}"
        made = tollbar.parse_plan(name, _half(made, half))
    words = dict(line.split(": ", 1) for line in made.text.splitlines() if ": " in line)
    points = [Point(f"{'rank' if rank.isdecimal() else 'role'} {rank}", word) for rank, word in words.items()]
    svg = tollbar.draw_svg(made, tollbar.LogP(L=10, o=5, g=3))
    return Exhibit(paper, number, title, Axes("word"), points, f"{name}: {sentence}.", drawing=svg)


def _half(plan: tollbar.Plan, half: str) -> str:
    """The words up to the arrival of each rank, or from there on. Rank 0 tells nobody that it arrives."""
    lines = []
    for line in plan.text.splitlines():
        rank, _, word = line.partition(": ")
        steps = word.split()
        arrived = next(n for n, step in enumerate(steps) if step.startswith("!")) + (rank != "0")
        lines.append(f"{rank}: {' '.join(steps[:arrived] if half == 'arrival' else steps[arrived:])}".rstrip())
    return "\n".join(lines)


def same(x: X, other: X) -> bool:
    """True for two spellings of one place on an axis, as 16 and 16.0."""
    return x == other or str(x) == str(other)


def with_published(points: Iterable[Point], paper: str, number: str) -> list[Point]:
    """The points with what the paper prints; a printed value where there is no point makes one."""
    joined = list(points)
    for value in values_of(paper, number):
        places = (n for n, p in enumerate(joined) if p.series == value.series and same(p.x, value.x))
        index = next(places, None)
        alone = Point(value.series, value.x, published=value.value, source=value.source, bound=value.bound)
        if index is None:
            joined.append(alone)
        else:
            joined[index] = replace(joined[index], published=value.value, source=value.source, bound=value.bound)
    return joined


def printed(paper: str, number: str, series: str, x: X) -> Value:
    """The printed value of a series at x. Raises KeyError where the paper has none."""
    for value in values_of(paper, number):
        if value.series == series and same(value.x, x):
            return value
    raise KeyError(f"{paper} {number}: nothing is printed of {series} at {x}")


def at(points: Iterable[Point], series: str, x: X) -> Point:
    """The point of that series at x."""
    return next(point for point in points if point.series == series and same(point.x, x))

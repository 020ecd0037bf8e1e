# SPDX-License-Identifier: Apache-2.0
"""A table or figure of a paper as data: what the paper prints, what the model gives, what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from tollbar.data.statistics import Interval
from tollbar.papers.published import Value, values_of

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
    """What was measured in nanoseconds, in microseconds."""
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
class Exhibit:
    """A table or figure. `x` and `y` name the axes, with units."""

    paper: str
    number: str  #: as the paper counts: "Figure 4a", "Table 1"
    title: str
    x: str
    y: str
    points: Sequence[Point]
    sentence: str  #: made from the points
    log_x: bool = True
    log_y: bool = True
    drawing: str | None = None  #: SVG for a page, where no curves are drawn
    missing: str | None = None  #: the command that would measure what is not there
    aside: tuple[str, ...] = ()  #: series that are no part of the curves: other numbers the text gives

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
        """How many numbers are printed, come from the model, were measured."""
        return (
            sum(point.published is not None for point in self.points),
            sum(point.model is not None for point in self.points),
            sum(point.measured is not None for point in self.points),
        )


def same(x: X, other: X) -> bool:
    """Whether two places on an axis are one: 16 and 16.0 are."""
    return x == other or str(x) == str(other)


def curve(series: str, xs: Iterable[X], model: Callable[..., float]) -> list[Point]:
    """The model at each x."""
    return [Point(series, x, model=model(x)) for x in xs]


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
    """That printed value. KeyError where the paper has none."""
    for value in values_of(paper, number):
        if value.series == series and same(value.x, x):
            return value
    raise KeyError(f"{paper} {number}: nothing is printed of {series} at {x}")


def at(points: Iterable[Point], series: str, x: X) -> Point:
    """The point of that series at x."""
    return next(point for point in points if point.series == series and same(point.x, x))

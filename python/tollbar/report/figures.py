# SPDX-License-Identifier: Apache-2.0
"""A figure is a value: curves between two axes. charts.py draws it in a page, pictures.py in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tollbar.backports import zip_equal
from tollbar.report import candidates

COLOURS = 10  #: of the page
ROUNDS = "eight of ten rounds"

_CURVES = ("line", "steps")
#: Curves lie on each other where they are so near, in so many of the places that both have.
_NEAR, _OFTEN = 0.02, 0.6

#: How a line is drawn: a bound and a prediction are dotted, printed numbers are rings without a curve, and what
#: was measured beside a model is dashed; steps are a distribution.
Kind = Literal["line", "bound", "predicted", "printed", "measured", "steps"]


@dataclass(frozen=True)
class Axis:
    """The quantity along one side; `words` stand at 0, 1, 2, ... in place of numbers."""

    label: str
    scale: Literal["linear", "log", "log2"] = "log2"
    unit: Literal["", "ns", "share"] = ""
    words: Sequence[str] = ()


TIME = Axis("time", "log", "ns")


@dataclass(frozen=True)
class Curve:
    """One curve: y at each x, and the range in which eight of ten rounds lie, or an interval."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    colour: int | None = None  #: of what is no barrier; a barrier has its own
    kind: Kind = "line"
    style: tuple[int, int] | None = None  #: colour and dash, where a figure gives them to its lines itself
    series: str = ""  #: lines of one series share an entry of the legend
    notes: Sequence[str] = ()  #: what a pointer is told at each point, besides the numbers


@dataclass(frozen=True)
class Figure:
    """Curves, and what has to be known to read them."""

    name: str
    caption: str
    lines: Sequence[Curve]
    x: Axis
    y: Axis = TIME
    spread: str = ROUNDS  #: what the ranges are
    bars: bool = False  #: ranges are bars, not bands
    groups: Sequence[str] = ()  #: one for each word of x, which makes these rows of a page

    @property
    def points(self) -> int:
        """The number of points of the longest measured curve."""
        return max((len(line.x) for line in self.lines if line.kind not in ("bound", "predicted")), default=0)

    @property
    def styles(self) -> list[tuple[int, int]]:
        """The colour and the dash of each line: a barrier has its colour in every figure, and curves of one
        colour differ by their dashes."""
        styles: list[tuple[int, int]] = []
        for line in self.lines:
            if line.style:
                styles.append(line.style)
                continue
            dash, colour = divmod(candidates.colour(line.label, line.colour), COLOURS)
            curve = line.kind in _CURVES
            while curve and (colour, dash) in styles:
                dash += 1
            styles.append((colour, dash if curve else 0))
        return styles

    @property
    def covered(self) -> list[int]:
        """By how many later curves each line is covered: it is drawn wider by so much, to be seen under them."""
        return [sum(_covers(other, line) for other in self.lines[n + 1 :]) for n, line in enumerate(self.lines)]


def _covers(one: Curve, other: Curve) -> bool:
    printed = one.kind == other.kind == "printed"  # a ring around a ring
    if not printed and (one.kind not in _CURVES or other.kind not in _CURVES):
        return False
    places = dict(zip_equal(one.x, one.y))
    pairs = [(y, places[x]) for x, y in zip_equal(other.x, other.y) if x in places]
    near = sum(abs(a - b) <= _NEAR * max(abs(a), abs(b)) for a, b in pairs)
    return len(pairs) > (0 if printed else 1) and near >= _OFTEN * len(pairs)

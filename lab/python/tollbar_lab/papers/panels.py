# SPDX-License-Identifier: Apache-2.0
"""The panels of an exhibit: the paper's machine, and beside it this one, each between axes of its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from tollbar.backports import zip_equal
from tollbar.report import candidates
from tollbar.report.figures import COLOURS, Axis, Curve, Figure, Kind

from tollbar_lab.papers.exhibit import Exhibit, Point

MOST = 8  #: series of a panel
PAPER, LOCAL = "the paper's machine", "here"

#: Texts for the kinds of lines, in the legend below all panels.
KINDS: dict[Kind, str] = {
    "line": "model",
    "steps": "model, in steps",
    "printed": "printed in the paper",
    "measured": "measured here",
    "predicted": "predicted for here",
}
#: The numbers of a point that each side draws, as what, and what is added to the series' name.
_SIDES: dict[str, dict[str, tuple[Kind, str]]] = {
    PAPER: {"model": ("line", ""), "published": ("printed", ", printed")},
    LOCAL: {"measured": ("measured", ", measured"), "predicted": ("predicted", ", predicted")},
}


@dataclass(frozen=True)
class _Panel:
    """The series of one side, or those of them with one part in their names."""

    side: str
    part: str
    names: Sequence[str]


def of(exhibit: Exhibit) -> list[Figure]:
    """The panels in order, their captions as titles; none where there is nothing to draw, or a drawing."""
    points = [] if exhibit.drawing else [point for point in exhibit.points if point.series not in exhibit.aside]
    panels = [
        _Panel(side, part, names)
        for side in _SIDES
        for part, names in _parted(_series([point for point in points if _is_known(point, side)]), exhibit.apart)
    ]
    styles = _styles([panel.names for panel in panels])
    figures = []
    for number, (panel, title) in enumerate(zip_equal(panels, _titles(panels)), 1):
        on_side = [point for point in points if _is_known(point, panel.side)]
        lines = _lines(exhibit, panel, on_side, styles)
        log_x = exhibit.axes.log_x and min(x for line in lines for x in line.x) > 0
        log_y = exhibit.axes.log_y and _many_tens([y for line in lines for y in line.y])
        words = _words(on_side, panel)
        x = Axis(exhibit.axes.x, "log2" if log_x else "linear", words=words)
        y = Axis(exhibit.axes.y, "log" if log_y else "linear")
        name, groups = f"{exhibit.paper}-{exhibit.slug}-{number}", [x.label] * len(words)
        figures.append(Figure(name, title, lines, x, y, "95 % interval", groups=groups))
    return figures


def _series(points: Sequence[Point]) -> list[str]:
    return list(dict.fromkeys(point.series for point in points))


def _is_known(point: Point, side: str) -> bool:
    return any(getattr(point, what) is not None for what in _SIDES[side])


def _words(points: Sequence[Point], panel: _Panel) -> list[str]:
    mine = [point.x for point in points if point.series in panel.names]
    return list(dict.fromkeys(x for x in mine if isinstance(x, str)))


def _many_tens(values: Sequence[float]) -> bool:
    """Whether a logarithmic axis suits the numbers."""
    return min(values) > 0 and max(values) > 20 * min(values)


def _parted(names: Sequence[str], apart: str) -> list[tuple[str, Sequence[str]]]:
    """As few panels as hold the series, by the parts of their names, and as even ones."""
    if len(names) <= MOST:
        return [("", names)] if names else []
    by_part: dict[str, list[str]] = {}
    for name in names:
        match = re.search(apart, name) if apart else None
        by_part.setdefault(match[0] if match else "", []).append(name)
    pieces = [(part, piece) for part, some in by_part.items() for piece in _pieces(some)]
    least = max(len(piece) for _, piece in pieces)
    return min((_packed(pieces, most) for most in range(least, MOST + 1)), key=len)


def _pieces(names: Sequence[str]) -> list[Sequence[str]]:
    many = -(-len(names) // MOST)
    length = -(-len(names) // many)
    return [names[first : first + length] for first in range(0, len(names), length)]


def _packed(pieces: Sequence[tuple[str, Sequence[str]]], most: int) -> list[tuple[str, Sequence[str]]]:
    """Neighbouring parts in one panel where it has at most so many series; names without a part stay alone."""
    panels: list[tuple[str, Sequence[str]]] = []
    for part, names in pieces:
        if panels and part and panels[-1][0] and len(panels[-1][1]) + len(names) <= most:
            panels[-1] = (f"{panels[-1][0]}, {part}", [*panels[-1][1], *names])
        else:
            panels.append((part, names))
    return panels


def _titles(panels: Sequence[_Panel]) -> list[str]:
    """The side and the part of each panel, and a number where both are the same; no side where the paper's is alone."""
    alone = not any(panel.side == LOCAL for panel in panels)
    titles = [": ".join(filter(None, ("" if alone else panel.side, panel.part))) for panel in panels]
    many, seen = Counter(titles), Counter[str]()
    numbered = []
    for title in titles:
        seen[title] += 1
        numbered.append(f"{title} ({seen[title]} of {many[title]})".lstrip() if many[title] > 1 else title)
    return numbered


def _styles(panels: Sequence[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """A colour and a dash for each series, in all panels: the first of a barrier has that one's own colour.

    No two series of a panel are alike, and no two of all panels where there are colours enough.
    """
    every = list(dict.fromkeys(name for names in panels for name in names))
    groups = [every] if len(every) <= COLOURS else panels
    styles: dict[str, tuple[int, int]] = {}
    for names in groups:
        for number, name in enumerate(names):
            if name in styles:
                continue
            taken = {styles[other] for group in groups if name in group for other in group if other in styles}
            colour = candidates.colour(name, number) % COLOURS
            free = ((other % COLOURS, dash) for dash in count() for other in range(colour, colour + COLOURS))
            styles[name] = next(style for style in free if style not in taken)
    return styles


def _lines(
    exhibit: Exhibit, panel: _Panel, points: Sequence[Point], styles: Mapping[str, tuple[int, int]]
) -> list[Curve]:
    words, lines = _words(points, panel), []
    for series in panel.names:
        mine = [point for point in points if point.series == series]
        for what, (kind, added) in _SIDES[panel.side].items():
            drawn: Kind = "steps" if what == "model" and series in exhibit.steps else kind
            if line := _line(mine, what, words):
                lines.append(replace(line, label=series + added, kind=drawn, style=styles[series], series=series))
    return lines


def _line(points: Sequence[Point], what: str, words: Sequence[str]) -> Curve | None:
    """These numbers of the points in the order of x; None where there are none."""
    at = [(words.index(p.x) if isinstance(p.x, str) else p.x, p) for p in points if getattr(p, what) is not None]
    at.sort(key=lambda place: place[0])
    known = [point for _, point in at]
    low, high = ([p.low for p in known], [p.high for p in known]) if what == "measured" else (None, None)
    return Curve("", [x for x, _ in at], [getattr(p, what) for p in known], low, high) if known else None

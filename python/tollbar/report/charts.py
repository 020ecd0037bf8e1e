# SPDX-License-Identifier: Apache-2.0
"""Figures that a page draws itself: their points, an accessible name, and the table behind them.

charts.js draws what stands here. Without scripts the table is there.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tollbar.report import candidates

Quantity = Mapping[str, str]  #: scale (linear, log, log2, rows), unit (ns, share, or none), label

COLOURS = 10  #: of the page
ROUNDS = "eight of ten rounds"
_SHARES = 101  #: so many points draw the curve of any distribution
_TOLD = (0.1, 0.5, 0.9, 0.99)  #: what its table tells


@dataclass(frozen=True)
class Line:
    """One curve: a middle at each x, and the range in which eight of ten rounds lie, or an interval.

    A bound has no range, and neither has a prediction, which takes the colour of what it predicts.
    """

    label: str
    x: Sequence[float]
    middle: Sequence[float]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    colour: int = 0
    dashed: bool = False
    bound: bool = False
    predicted: bool = False


def time_text(ns: float) -> str:
    """A time with the unit that suits it, to three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size * 0.9995:
            return f"{_digits(ns / size)} {unit}"
    return f"{_digits(ns)} ns"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def curves(
    name: str,
    lines: Sequence[Line],
    x: Quantity,
    y: Quantity,
    spread: str = ROUNDS,
    bars: bool = False,
    notes: Sequence[Sequence[str]] = (),
) -> str:
    """The chart of these lines. `bars` draws each range as a bar, not as a band; notes are told at points."""
    styles = _Styles()
    drawn = []
    for number, line in enumerate(lines):
        kind = "bound" if line.bound else "model" if line.predicted else "line"
        style = styles.of(line.label, line.colour, line.dashed) if kind == "line" else styles.plain(line)
        points = _points(line, notes[number] if notes else ())
        drawn.append({"name": line.label, "kind": kind, "points": points} | style)
    measured = (len(line.x) for line in lines if not line.bound and not line.predicted)
    told = _table(lines, x, y)
    return _chart(
        name,
        {"x": dict(x), "y": dict(y), "spread": spread, "bars": bars, "series": drawn},
        told,
        max(measured, default=0),
    )


def rows(
    name: str,
    groups: Sequence[tuple[str, str]],
    lines: Sequence[Line],
    x: Quantity,
    spread: str,
    notes: Sequence[Sequence[str]] = (),
) -> str:
    """A row for each (group, label), a point in it for each line; a line's x are numbers of rows."""
    turned = [dataclasses.replace(line, x=line.middle, middle=line.x) for line in lines]
    drawn = [
        {
            "name": line.label,
            "kind": "line",
            "colour": candidates.colour(line.label) % COLOURS,
            "dash": 0,
            "points": _points(line, notes[number] if notes else ()),
        }
        for number, line in enumerate(turned)
    ]
    y = {"scale": "rows", "label": "", "unit": ""}
    texts = [", ".join(group) for group in groups]
    told = _table(lines, {**y, "rows": texts}, x)
    data = {"x": dict(x), "y": y, "rows": [list(group) for group in groups], "spread": spread, "series": drawn}
    return _chart(name, data, told, len(groups))


def distribution(name: str, samples: Mapping[str, np.ndarray], xlabel: str) -> str:
    """The share of episodes that took at most so long, for each candidate."""
    shares = np.linspace(0, 1, _SHARES)
    drawn, styles = [], _Styles()
    for number, (label, values) in enumerate(samples.items()):
        points = [[_short(x), _short(y)] for x, y in zip(np.quantile(values, shares), shares, strict=True)]
        drawn.append({"name": label, "kind": "steps", "points": points} | styles.of(label, number))
    x, y = ({"scale": "log", "unit": "ns", "label": xlabel}, {"scale": "linear", "unit": "share", "label": "episodes"})
    cells = [[label, *(time_text(each) for each in np.quantile(values, _TOLD))] for label, values in samples.items()]
    quantiles = table(["barrier", *(f"{share:.0%} take at most" for share in _TOLD)], cells)
    return _chart(name, {"x": x, "y": y, "spread": "", "series": drawn}, quantiles, _SHARES)


class _Styles:
    """A barrier has its colour in every figure; curves of one colour differ by their dashes."""

    def __init__(self) -> None:
        self._used: set[tuple[int, int]] = set()

    def of(self, label: str, otherwise: int, dashed: bool = False) -> dict[str, int]:
        """The style of a curve; `otherwise`: the colour of what is no barrier."""
        known = candidates.known(label)
        known = otherwise if known is None else known
        colour, dash = known % COLOURS, max(known // COLOURS, int(dashed))
        while (colour, dash) in self._used:
            dash += 1
        self._used.add((colour, dash))
        return {"colour": colour, "dash": dash}

    def plain(self, line: Line) -> dict[str, int]:
        """The style of a bound or of a prediction."""
        known = candidates.known(line.label)
        return {"colour": (line.colour if known is None else known) % COLOURS, "dash": 0}


def _points(line: Line, notes: Sequence[str]) -> list[list[Any]]:
    unknown = [None] * len(line.x)
    lows: Sequence[float | None] = line.low if line.low is not None else unknown
    highs: Sequence[float | None] = line.high if line.high is not None else unknown
    found: list[list[Any]] = []
    for number, (x, y, low, high) in enumerate(zip(line.x, line.middle, lows, highs, strict=True)):
        if not (math.isfinite(x) and math.isfinite(y)):
            continue
        point: list[float | None] = [_short(x), _short(y)]
        if low is not None and high is not None:
            point += [_short(low), _short(high)]
        elif notes:
            point += [None, None]
        found.append([*point, notes[number]] if notes and notes[number] else point)
    return found


def _short(value: float) -> float:
    """Five digits: more than a screen shows."""
    value = float(f"{float(value):.5g}")
    return int(value) if value.is_integer() else value


def _table(lines: Sequence[Line], x: Mapping[str, Any], y: Quantity) -> str:
    """A row for each x, a column for each line."""
    shown = [line for line in lines if not line.label.startswith("_")]
    places = sorted({place for line in shown for place in line.x})
    cells = []
    for place in places:
        row = [x["rows"][int(place)] if "rows" in x else _text(place, x)]
        for line in shown:
            at = list(line.x).index(place) if place in line.x else None
            row.append("" if at is None else _cell(line, at, y))
        cells.append(row)
    return table([x["label"], *(line.label for line in shown)], cells)


def _cell(line: Line, at: int, y: Quantity) -> str:
    low, high = (ends[at] if ends is not None else None for ends in (line.low, line.high))
    text = _text(line.middle[at], y)
    return text if low is None or high is None else f"{text} ({_text(low, y)} to {_text(high, y)})"


def _text(value: float, of: Mapping[str, Any]) -> str:
    if of.get("unit") == "ns":
        return time_text(value)
    return f"{value:.0%}" if of.get("unit") == "share" else f"{value:.4g}" if value < 1e4 else f"{value:,.0f}"


def behind(table: str) -> str:
    """The table behind a figure, folded."""
    return f'<details class="behind"><summary>Table</summary><div class="scroll">{table}</div></details>'


def table(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table of texts; the first of a row is what it is about."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>" for row in cells
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _chart(name: str, data: dict[str, Any], told: str, points: int) -> str:
    """`points`: of the longest curve; a page leaves out figures with hardly any."""
    shown = [each["name"] for each in data["series"] if not each["name"].startswith("_")]
    along = [each["label"] for each in (data["y"], data["x"]) if each["label"]]
    label = escape(f"{' against '.join(along)}: {', '.join(shown)}", quote=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div class="chart" data-chart="{escape(name, quote=True)}" data-points="{points}">'
        f'<script type="application/json">{text}</script><svg role="img" aria-label="{label}"></svg>'
        f"</div>{behind(told)}"
    )

# SPDX-License-Identifier: Apache-2.0
"""Figures in a page: their points, which charts.js draws, an accessible name, and the table behind them.

Without scripts the table is there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from tollbar.backports import zip_equal
from tollbar.report.figures import Axis, Curve, Figure

_TOLD = (0.1, 0.5, 0.9, 0.99)  #: quantiles in the table behind a distribution


def time_text(ns: float) -> str:
    """A time with the unit that suits it, to three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size * 0.9995:
            return f"{_digits(ns / size)} {unit}"
    return f"{_digits(ns)} ns"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def chart(figure: Figure, table: bool = True) -> Markup:
    """The figure in a page, with the table behind it if that is wanted; empty without curves."""
    if not figure.lines:
        return Markup()
    drawn: list[dict[str, Any]] = [
        {"name": line.label, "kind": line.kind, "colour": colour, "dash": dash, "points": _points(line)}
        | ({"covered": covered} if covered else {})
        | ({"series": line.series} if line.series else {})
        for line, (colour, dash), covered in zip_equal(figure.lines, figure.styles, figure.covered)
    ]
    data: dict[str, Any] = {"x": _axis(figure.x), "y": _axis(figure.y), "spread": figure.spread, "series": drawn}
    if figure.groups:  # rows have their values along x
        for one in drawn:
            one["points"] = [[y, x, *more] for x, y, *more in one["points"]]
        data["x"], data["y"] = data["y"], {"scale": "rows", "label": "", "unit": ""}
        data["rows"] = list(zip_equal(figure.groups, figure.x.words))
    if figure.bars:
        data["bars"] = True
    label = escape(
        f"{' against '.join(filter(None, (figure.y.label, figure.x.label)))}: "
        f"{', '.join(line.label for line in figure.lines)}",
        quote=True,
    )
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    behind = f'<details class="behind"><summary>Table</summary><div class="scroll">{_table(figure)}</div></details>'
    return Markup(
        f'<div class="chart" data-chart="{escape(figure.name, quote=True)}">'
        f'<script type="application/json">{text}</script><svg role="img" aria-label="{label}"></svg>'
        f"</div>{behind if table else ''}"
    )


def _axis(axis: Axis) -> dict[str, Any]:
    return {"scale": axis.scale, "unit": axis.unit, "label": axis.label}


def _points(line: Curve) -> list[list[Any]]:
    """x, y, and the ends of the range and the note where there are any."""
    unknown = [None] * len(line.x)
    points: list[list[Any]] = []
    for x, y, low, high, note in zip_equal(
        line.x, line.y, line.low or unknown, line.high or unknown, line.notes or unknown
    ):
        if math.isfinite(x) and math.isfinite(y):
            ends = [None, None] if low is None or high is None else [_short(low), _short(high)]
            points.append(
                [_short(x), _short(y), *(ends if note or ends[0] is not None else ()), *([note] if note else ())]
            )
    return points


def _short(value: float) -> float:
    """Five digits: more than a screen shows."""
    value = float(f"{float(value):.5g}")
    return int(value) if value.is_integer() else value


def _table(figure: Figure) -> str:
    """A row for each x, a column for each line; of a distribution the quantiles of each line."""
    if any(line.kind == "steps" for line in figure.lines):
        cells = [
            [line.label, *(time_text(line.x[round(share * (len(line.x) - 1))]) for share in _TOLD)]
            for line in figure.lines
        ]
        return _rows(["barrier", *(f"{share:.0%} take at most" for share in _TOLD)], cells)
    cells = []
    for x in sorted({x for line in figure.lines for x in line.x}):
        row = [f"{figure.groups[int(x)]}, {figure.x.words[int(x)]}" if figure.groups else _text(x, figure.x)]
        for line in figure.lines:
            row.append(_cell(line, list(line.x).index(x), figure.y) if x in line.x else "")
        cells.append(row)
    return _rows([figure.x.label, *(line.label for line in figure.lines)], cells)


def _cell(line: Curve, at: int, y: Axis) -> str:
    low, high = (ends[at] if ends is not None else None for ends in (line.low, line.high))
    text = _text(line.y[at], y)
    return text if low is None or high is None else f"{text} ({_text(low, y)} to {_text(high, y)})"


def _text(value: float, axis: Axis) -> str:
    if axis.unit == "ns":
        return time_text(value)
    return f"{value:.0%}" if axis.unit == "share" else f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def _rows(heads: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A table of texts; the first of a row is what it is about."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>" for row in cells
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

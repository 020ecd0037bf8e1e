# SPDX-License-Identifier: Apache-2.0
"""Figures as matplotlib draws them in files, with the colours that pages have in the light."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from math import log2
from typing import Any

import matplotlib
from matplotlib.figure import Figure as Picture
from matplotlib.ticker import FuncFormatter

from tollbar.report.charts import time_text
from tollbar.report.figures import Figure

#: The colours of report.css.
COLOURS = (
    "#0a62b5", "#c43d3d", "#1a7f4b", "#c47a00", "#7447b8", "#0b8a99", "#8a5a34", "#c03a8a", "#6b7480", "#8c9a12",
)  # fmt: skip
_STYLES: dict[str, dict[str, Any]] = {
    "line": {"marker": "."},
    "bound": {"linestyle": ":", "color": "black"},
    "predicted": {"linestyle": (0, (1, 1.2))},
    "printed": {"linestyle": "", "marker": "o", "markersize": 8, "markerfacecolor": "none"},
    "measured": {"linestyle": (0, (4, 2)), "marker": "s", "markersize": 4},
    "steps": {"drawstyle": "steps-post"},
}
#: Lines of one kind and colour, from the second on.
_OTHERS: dict[str, list[dict[str, Any]]] = {
    "predicted": [{"linestyle": (0, (1, 3))}, {"linestyle": (0, (1, 1.2, 1, 4))}],
    "printed": [{"marker": "D"}, {"marker": "^"}, {"marker": "v"}],
    "measured": [{"marker": "D"}, {"marker": "^"}, {"marker": "v"}],
}
_DASHES = ("-", "--", "-.", ":")


_LEGEND_LINE = 0.18  #: inches
_WIDTH, _WIDER = 1.4, 2.2  #: points, of a curve, and for each curve that covers it
_APART = 1 / 15  #: of an axis, at least so far from each other are its ticks


def picture(figure: Figure) -> Picture:
    """The curves, with their legend beside them; words of x stand in rows."""
    drawn = Picture(figsize=(9, max(5, 0.3 + _LEGEND_LINE * len(figure.lines))), layout="constrained")
    axes, rows = drawn.subplots(), bool(figure.x.words)
    for line, (colour, dash), covered in zip(figure.lines, figure.styles, figure.covered, strict=True):
        style = {"color": COLOURS[colour], "linestyle": _DASHES[dash % len(_DASHES)]} | _STYLES[line.kind]
        if dash and line.kind in _OTHERS:
            style |= _OTHERS[line.kind][(dash - 1) % len(_OTHERS[line.kind])]
        values = (line.y, line.x) if rows else (line.x, line.y)
        axes.plot(
            *values,
            label=line.label,
            linewidth=_WIDTH + _WIDER * covered,
            **style | ({"linestyle": ""} if rows else {}),
        )
    x, y = (figure.y, figure.x) if rows else (figure.x, figure.y)
    for axis, about, log in ((axes.xaxis, x, axes.set_xscale), (axes.yaxis, y, axes.set_yscale)):
        axis.set_label_text(about.label)
        if about.words:
            axis.set_ticks(range(len(about.words)), about.words)
            axis.set_inverted(True)
        elif about.scale != "linear":
            log("log", base=2 if about.scale == "log2" else 10)
            if about.scale == "log2":
                lines = figure.lines
                axis.set_ticks(_ticks(place for line in lines for place in (line.x if about is figure.x else line.y)))
                axis.set_ticks([], minor=True)
            axis.set_major_formatter(FuncFormatter(_time if about.unit == "ns" else _number))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    drawn.legend(frameon=False, fontsize=8, loc="outside right upper")
    return drawn


def _ticks(values: Iterable[float]) -> list[float]:
    """The places of a logarithmic axis that have a number: powers of two, the ends, then others where there is room."""
    places = sorted(set(values))
    room = _APART * log2(places[-1] / places[0])
    kept: list[float] = []
    for place in (*filter(lambda place: log2(place).is_integer(), places), places[-1], places[0], *places):
        if all(abs(log2(place / other)) >= room for other in kept):
            kept.append(place)
    return sorted(kept)


def _time(ns: float, _: object) -> str:
    return time_text(ns)


def _number(value: float, _: object) -> str:
    return f"{value:g}"


def svg(drawn: Picture, name: str) -> str:
    """The picture as the text of a file that is the same wherever it is drawn."""
    file = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        drawn.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    text = file.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    # A hundredth of a point shows nowhere, in places; numbers between tags are there to be read.
    text = re.sub(r"<[^<>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), text)
    return re.sub(r"font-family: [^;\"]*", "font-family: sans-serif", text)

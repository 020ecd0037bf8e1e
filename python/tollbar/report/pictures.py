# SPDX-License-Identifier: Apache-2.0
"""Figures as matplotlib draws them in files, with the colours that pages have in the light."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log2
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter
from matplotlib.transforms import ScaledTranslation

from tollbar.backports import zip_equal
from tollbar.report.charts import time_text
from tollbar.report.figures import Figure, Kind

#: The colours of report.css.
COLOURS = (
    "#0a62b5", "#c43d3d", "#1a7f4b", "#c47a00", "#7447b8", "#0b8a99", "#8a5a34", "#c03a8a", "#6b7480", "#8c9a12",
)  # fmt: skip
_RING, _WIDER_RING = 8, 4  #: points across, of what is printed, and for each such ring within it
_STYLES: dict[str, dict[str, Any]] = {
    "line": {"marker": "."},
    "bound": {"linestyle": ":", "color": "black"},
    "predicted": {"linestyle": (0, (1, 1.2)), "marker": ".", "markersize": 6},
    "printed": {"linestyle": "", "marker": "o", "markersize": _RING, "markerfacecolor": "none"},
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


def _in_a_row(kind: Kind) -> dict[str, Any]:
    """Marks alone, for words have no order."""
    return {"linestyle": "", **({"marker": "x"} if kind == "predicted" else {})}


_LEGEND_LINE = 0.18  #: inches
_WIDTH, _WIDER = 1.4, 2.2  #: points, of a curve, and for each curve that covers it
_APART = 1 / 15  #: of an axis, at least so far from each other are its ticks

#: Sizes of panels, in inches: their widths alone, beside another and in rows, the height of curves, of a row and at
#: least of rows, and the distances from there to the legend, and to the next panel.
_ALONE, _BESIDE, _IN_ROWS, _HIGH, _ROW, _LOWEST, _BELOW, _BETWEEN = 8, 5.5, 9, 3.4, 0.26, 1.8, 0.5, 0.5
_LABEL = 20  #: letters in a line of the label of rows, for which _LOWEST is enough
_LETTER = 0.065  #: inches that a letter of a legend takes at most


def picture(figure: Figure) -> Picture:
    """The curves, with their legend beside them; words of x stand in rows."""
    drawn = Picture(figsize=(9, max(5, 0.3 + _LEGEND_LINE * len(figure.lines))), layout="constrained")
    _draw(drawn.subplots(), figure)
    drawn.legend(frameon=False, fontsize=8, loc="outside right upper")
    return drawn


def panels(figures: Sequence[Figure], kinds: Mapping[Kind, str]) -> Picture:
    """The figures side by side, or one above the other where words of x stand in rows.

    Below each is a legend with one entry a series, and below all of them what is drawn how, as `kinds` says.
    """
    rows = any(figure.x.words for figure in figures)
    across = 1 if rows else min(2, len(figures))
    width = _IN_ROWS if rows else _ALONE if across == 1 else _BESIDE
    bands = [figures[first : first + across] for first in range(0, len(figures), across)]
    curves = [max(_high(figure) for figure in band) for band in bands]
    below = [_BELOW + _LEGEND_LINE * max(_entries(figure, width)[0] for figure in band) + _BETWEEN for band in bands]
    drawn = Picture(figsize=(width * across, sum(curves) + sum(below) + 0.4), layout="constrained")
    grid = list(drawn.subplots(len(bands), across, squeeze=False, height_ratios=curves).flat)
    for axes in grid[len(figures) :]:
        axes.remove()
    for axes, figure in zip(grid, figures):
        shown = _draw(axes, figure)
        axes.set_title(figure.caption, loc="left", fontsize=10)
        if rows:
            axes.set_ylabel(textwrap.fill(figure.x.label, _LABEL))
        elif figure.x.scale == "linear" and _apart(places := _places(figure), lambda x: x) == places:
            axes.xaxis.set_ticks(places, [f"{x:.4g}" for x in places])
        _legend_below(axes, figure, shown, _entries(figure, width)[1])
    occur = {line.kind for figure in figures for line in figure.lines}
    keys = {text: _key(kind, rows) for kind, text in kinds.items() if kind in occur}
    about = {"frameon": False, "fontsize": 8, "borderaxespad": 0, "borderpad": 1, "ncols": len(keys)}
    drawn.legend(keys.values(), keys.keys(), loc="outside lower left", **about)
    return drawn


def _high(figure: Figure) -> float:
    return max(_LOWEST, _ROW * (2 + len(figure.x.words))) if figure.x.words else _HIGH


def _entries(figure: Figure, width: float) -> tuple[int, int]:
    """The lines and the columns of its legend, in a panel of that width."""
    names = {line.series or line.label for line in figure.lines}
    most = max(1, int(width / (0.6 + _LETTER * max(map(len, names)))))
    lines = -(-len(names) // most)
    return lines, -(-len(names) // lines)


def _legend_below(axes: Axes, figure: Figure, shown: Sequence[Line2D], columns: int) -> None:
    """An entry for each series, which looks as the first of its lines."""
    first: dict[str, Line2D] = {}
    for line, curve in zip_equal(figure.lines, shown):
        first.setdefault(line.series or line.label, curve)
    place = axes.transAxes + ScaledTranslation(0, -_BELOW, axes.figure.dpi_scale_trans)
    about = {"frameon": False, "fontsize": 8, "borderaxespad": 0, "borderpad": 0, "ncols": columns}
    axes.legend(first.values(), first.keys(), loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=place, **about)


def _key(kind: Kind, rows: bool) -> Line2D:
    """How lines of that kind are drawn, of whatever series."""
    return Line2D([], [], linewidth=_WIDTH, **{"color": COLOURS[8]} | _STYLES[kind] | (_in_a_row(kind) if rows else {}))


def _draw(axes: Axes, figure: Figure) -> list[Line2D]:
    """The curves between their axes, one for each line of the figure."""
    shown, rows = [], bool(figure.x.words)
    for line, (colour, dash), covered in zip_equal(figure.lines, figure.styles, figure.covered):
        style = {"color": COLOURS[colour], "linestyle": _DASHES[dash % len(_DASHES)]} | _STYLES[line.kind]
        if dash and line.kind in _OTHERS:
            style |= _OTHERS[line.kind][(dash - 1) % len(_OTHERS[line.kind])]
        if covered and line.kind == "printed":
            style |= {"markersize": _RING + _WIDER_RING * covered}
        values = (line.y, line.x) if rows else (line.x, line.y)
        shown += axes.plot(
            *values,
            label=line.label,
            linewidth=_WIDTH + _WIDER * covered,
            **style | (_in_a_row(line.kind) if rows else {}),
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
            if about.scale == "log" and not about.unit:
                axis.set_minor_formatter(_Between())
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    return shown


def _places(figure: Figure) -> list[float]:
    return sorted({x for line in figure.lines for x in line.x})


def _ticks(values: Iterable[float]) -> list[float]:
    """The places of a logarithmic axis that have a number: powers of two, the ends, then others where there is room."""
    places = sorted(set(values))
    return _apart((*filter(lambda place: log2(place).is_integer(), places), places[-1], places[0], *places), log2)


def _apart(places: Sequence[float], at: Callable[[float], float]) -> list[float]:
    """Places for which there is room, the first ones before others; `at` is where they lie on the axis."""
    room = _APART * (at(max(places)) - at(min(places)))
    kept: list[float] = []
    for place in places:
        if all(abs(at(place) - at(other)) >= room for other in kept) and place not in kept:
            kept.append(place)
    return sorted(kept)


class _Between(LogFormatter):
    """Numbers between powers of ten, where matplotlib would have any, written as those are."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        return super().__call__(x, pos) and _number(x, pos)


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

# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG text to stand inside a page: they take the page's font and its light or dark colours."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from tollbar.report import charts
from tollbar.report.charts import COLOURS, Line, time_text

# Colours that no figure uses stand for the page's own ones, and are put in after drawing.
_INK, MUTED, _GRID = "#010101", "#010102", "#010103"
_SERIES = [f"#0102{number:02x}" for number in range(COLOURS)]
_PAGE = {_INK: "var(--ink)", MUTED: "var(--muted)", _GRID: "var(--grid)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)
}
_SIZE = (5.4, 3.5)
STYLE = {
    "svg.fonttype": "none",
    "font.size": 11,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": _INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "axes.grid": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 10,
}


Scale = Literal["linear", "log", "log10"]


@dataclass(frozen=True)
class Grid:
    """A value for each pair (x, y); None where nothing was measured."""

    x: Sequence[int]
    y: Sequence[int]
    values: Mapping[tuple[int, int], float]


def against(
    name: str, lines: Sequence[Line], ylabel: str, times: bool = True, xlabel: str = "threads"
) -> str:
    """Curves over a number of participants, both axes logarithmic; `name` is the chart's own."""
    y = {"scale": "log", "unit": "ns" if times else "", "label": ylabel}
    return charts.curves(name, lines, {"scale": "log2", "unit": "", "label": xlabel}, y)


def over_plain(
    name: str, lines: Sequence[Line], xlabel: str, ylabel: str, xscale: Scale = "linear",
    yscale: Scale = "linear", spread: str = charts.ROUNDS,
) -> str:  # fmt: skip
    """Curves in plain numbers. A linear y axis begins at 0; a logarithmic x axis has its ticks at points, or
    with log10 at round numbers. `spread`: what a range holds."""
    scales = {"linear": "linear", "log": "log2", "log10": "log"}
    x = {"scale": scales[xscale], "unit": "", "label": xlabel}
    return charts.curves(name, lines, x, {"scale": yscale, "unit": "", "label": ylabel}, spread)


def heat_map(name: str, grid: Grid, xlabel: str, ylabel: str) -> str:
    """A cell for each pair, with its time in it: the slower, the fuller its colour, on a log scale."""
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name, "axes.grid": False}):
        figure, axes = _empty()
        least, most = np.log(min(grid.values.values())), np.log(max(grid.values.values()))
        for (x, y), value in grid.values.items():
            at = grid.x.index(x) - 0.5, grid.y.index(y) - 0.5
            warmth = (np.log(value) - least) / (most - least) if most > least else 0.0
            axes.add_patch(Rectangle(at, 1, 1, facecolor=_SERIES[0], alpha=0.04 + 0.5 * warmth, linewidth=0))
            axes.text(at[0] + 0.5, at[1] + 0.5, time_text(value), ha="center", va="center", fontsize=9)
        for axis, ticks in ((axes.xaxis, grid.x), (axes.yaxis, grid.y)):
            axis.set_ticks(range(len(ticks)), [str(each) for each in ticks])
        axes.set_xlim(-0.5, len(grid.x) - 0.5)
        axes.set_ylim(-0.5, len(grid.y) - 0.5)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        figure.subplots_adjust(left=0.13, right=0.985, top=0.975, bottom=0.15)
        return as_text(figure, f"time by {xlabel} and {ylabel}")


def heat_figure(name: str, grid: Grid, xlabel: str, ylabel: str) -> str:
    """The heat map and the table behind it."""
    cells = [
        [str(y), *(time_text(grid.values[x, y]) if (x, y) in grid.values else "" for x in grid.x)]
        for y in grid.y
    ]
    heads = [f"{ylabel}, {xlabel}", *map(str, grid.x)]
    picture = f'<div data-points="{len(grid.values)}">{heat_map(name, grid, xlabel, ylabel)}</div>'
    return picture + charts.behind(charts.table(heads, cells))


def series(number: int) -> str:
    """The colour of a page's series, for whoever draws a figure of another shape."""
    return _SERIES[number]


def as_text(figure: Figure, name: str, titles: Mapping[str, str] | None = None) -> str:
    """The figure's SVG for a page, with its name for those who cannot see it; `titles` are what a pointer is
    told about the parts with those ids."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = _for_page(text.getvalue(), titles or {})
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(name, quote=True)}"', 1)


def _empty() -> tuple[Figure, Any]:
    figure = Figure(figsize=_SIZE)
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    axes.patch.set_alpha(0)
    axes.set_axisbelow(True)
    return figure, axes


def _for_page(svg: str, titles: Mapping[str, str]) -> str:
    """What may stand inside HTML: no prologue, no fixed size, ids of its own, the page's font and colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg\b[^>]*?)\swidth="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?)\sheight="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--font)", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)  # a hundredth of a point is less than a screen shows
    svg = re.sub(r'<g id="([^"]*)">', lambda found: _with_title(found, titles), svg)
    used = set(re.findall(r"#([\w-]+)[\")]", svg))
    svg = re.sub(r'\sid="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    return re.sub(r"#0102\d\d|#01010[123]", lambda colour: _PAGE[colour[0]], svg)


def _with_title(group: re.Match[str], titles: Mapping[str, str]) -> str:
    return f"{group[0]}<title>{escape(titles[group[1]])}</title>" if group[1] in titles else group[0]

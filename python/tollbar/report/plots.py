# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG text to stand inside a page: they take the page's font and its light or dark colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

# Colours that no figure uses stand for the page's own ones, and are put in after drawing.
_INK, MUTED, _GRID = "#010101", "#010102", "#010103"
COLOURS = 10
_SERIES = [f"#0102{number:02x}" for number in range(COLOURS)]
_PAGE = {_INK: "var(--ink)", MUTED: "var(--muted)", _GRID: "var(--grid)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)
}
_MARKERS = "osD^vP<X>*"
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
class Line:
    """One curve: a middle at each x, and the range in which eight of ten rounds lie.

    A bound has no range, and neither has a prediction, which takes the colour of what it predicts.
    """

    label: str
    x: Sequence[float]
    middle: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    colour: int = 0
    dashed: bool = False
    bound: bool = False
    predicted: bool = False


@dataclass(frozen=True)
class Grid:
    """A value for each pair (x, y); None where nothing was measured."""

    x: Sequence[int]
    y: Sequence[int]
    values: Mapping[tuple[int, int], float]


def time_text(ns: float) -> str:
    """A time with the unit that suits it, to three digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size * 0.9995:
            return f"{_digits(ns / size)} {unit}"
    return f"{_digits(ns)} ns"


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def _round_text(value: float) -> str:
    return f"{value:g}"


def _grouped_text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def against(
    name: str, lines: Sequence[Line], ylabel: str, times: bool = True, xlabel: str = "threads"
) -> str:
    """Curves over a number of participants, both axes logarithmic; `name` makes the figure's ids its own."""
    text = time_text_short if times else _round_text
    return over_plain(name, lines, xlabel, ylabel, "log", "log", text)


def over_plain(
    name: str, lines: Sequence[Line], xlabel: str, ylabel: str, xscale: Scale = "linear",
    yscale: Scale = "linear", text: Callable[[float], str] | None = None,
) -> str:  # fmt: skip
    """Curves in plain numbers. A linear y axis begins at 0; a logarithmic x axis has its ticks at points, or
    with log10 at round numbers."""
    text = text or _grouped_text
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):
        figure, axes = _empty()
        for line in lines:
            _draw(axes, line)
        if xscale == "log":
            axes.set_xscale("log", base=2)
            shown = _apart(sorted({x for line in lines for x in line.x}))
            axes.set_xticks(shown, [f"{each:g}" for each in shown])
            axes.xaxis.set_minor_formatter(NullFormatter())
        elif xscale == "log10":
            axes.set_xscale("log")
            _log_labels(axes.xaxis, text)
        if yscale == "log":
            axes.set_yscale("log")
            _log_labels(axes.yaxis, text)
        else:
            axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        return _finish(figure, axes, sum(not line.label.startswith("_") for line in lines))


def _apart(places: Sequence[float]) -> list[float]:
    """Those whose labels do not touch on a logarithmic axis; powers of two first."""
    chosen = [each for each in places if np.log2(each) % 1 == 0]
    for each in places:
        if all(abs(np.log2(each / other)) > 0.16 for other in chosen):
            chosen.append(each)
    return sorted(chosen)


def distribution(
    name: str, samples: Mapping[str, np.ndarray], colours: Mapping[str, int], xlabel: str
) -> str:
    """The share of episodes that took at most so long, for each candidate."""
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):
        figure, axes = _empty()
        for label, values in samples.items():
            shares = np.linspace(0, 1, 201)  # 201 points draw the same curve as all samples
            colour, dashed = _SERIES[colours[label] % COLOURS], colours[label] >= COLOURS
            axes.step(np.quantile(values, shares), shares, where="post", color=colour, label=label,
                      linestyle=(0, (4, 2)) if dashed else "-")  # fmt: skip
        axes.set_xscale("log")
        _log_labels(axes.xaxis, time_text_short)
        axes.set_xlabel(xlabel)
        axes.set_ylim(0, 1.01)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:.0%}"))
        axes.set_ylabel("episodes")
        return _finish(figure, axes, len(samples))


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
        return as_text(figure)


def time_text_short(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"


def series(number: int) -> str:
    """The colour of a page's series, for whoever draws a figure of another shape."""
    return _SERIES[number]


def as_text(figure: Figure, titles: Mapping[str, str] | None = None) -> str:
    """The figure's SVG for a page; `titles` are what a pointer is told about the parts with those ids."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _for_page(text.getvalue(), titles or {})


def _empty() -> tuple[Figure, Any]:
    figure = Figure(figsize=_SIZE)
    figure.patch.set_alpha(0)
    axes = figure.subplots()
    axes.patch.set_alpha(0)
    axes.set_axisbelow(True)
    return figure, axes


def _draw(axes: Any, line: Line) -> None:
    if line.bound:
        axes.plot(line.x, line.middle, color=_INK, linestyle=(0, (1, 1.5)), linewidth=2, label=line.label)
        return
    colour = _SERIES[line.colour % len(_SERIES)]
    if line.predicted:
        axes.plot(line.x, line.middle, color=colour, linestyle=(0, (1, 1.2)), label=line.label)
        return
    if line.low is not None and line.high is not None:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.16, linewidth=0)
    axes.plot(
        line.x, line.middle, color=colour, label=line.label, marker=_MARKERS[line.colour % len(_MARKERS)],
        linestyle=(0, (4, 2)) if line.dashed or line.colour >= COLOURS else "-",
    )  # fmt: skip


def _log_labels(axis: Any, text: Any) -> None:
    low, high = axis.get_view_interval()
    steps = (1.0, 2.0, 5.0) if high / low < 100 else (1.0, 3.0) if high / low < 3000 else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _finish(figure: Figure, axes: Any, entries: int) -> str:
    handles, labels = axes.get_legend_handles_labels()
    longest = max(map(len, labels))
    columns = 1 if longest > 28 else 2 if entries <= 4 or longest > 20 else 3
    rows = -(-entries // columns)
    height = _SIZE[1] + 0.22 * rows
    figure.set_size_inches(_SIZE[0], height)
    figure.subplots_adjust(left=0.17, right=0.985, top=0.975, bottom=(0.58 + 0.22 * rows) / height)
    figure.legend(handles, labels, loc="lower center", ncols=columns, borderaxespad=0.2)
    return as_text(figure)


def _for_page(svg: str, titles: Mapping[str, str]) -> str:
    """What may stand inside HTML: no prologue, no fixed size, ids of its own, the page's font and colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg\b[^>]*?)\swidth="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?)\sheight="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--font)", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r'<g id="([^"]*)">', lambda found: _with_title(found, titles), svg)
    used = set(re.findall(r"#([\w-]+)[\")]", svg))
    svg = re.sub(r'\sid="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    return re.sub(r"#0102\d\d|#01010[123]", lambda colour: _PAGE[colour[0]], svg)


def _with_title(group: re.Match[str], titles: Mapping[str, str]) -> str:
    return f"{group[0]}<title>{escape(titles[group[1]])}</title>" if group[1] in titles else group[0]

# SPDX-License-Identifier: Apache-2.0
"""Pictures of exhibits as SVG: curves with printed and measured points, plans, and time lines of cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import tollbar
from tollbar.papers.exhibit import Exhibit, Point
from tollbar.report import charts, plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.typing import RcKeyType

_SIZE = (5.4, 3.7)
_LEGEND_PT = 7.5
_LANE = 0.42  # inches
_CSS = Path(__file__).parents[1] / "report" / "templates" / "report.css"
#: The stages of a card's time line, each with its colour.
_STAGES = {"send": 0, "sdma": 1, "xmit": 2, "recv": 3, "rdma": 4, "hrecv": 5}


def drawing(paper: str, number: str, plan: str, ranks: int, sentence: str, half: str | None = None) -> Exhibit:
    """A figure that draws an algorithm: the plan and its words; of a tree one of its halves alone."""
    made = tollbar.plan(plan, ranks)
    title = f"{plan} between {ranks} ranks"
    if half is not None:
        title = f"{half} tree of {title}"
        made = tollbar.parse_plan(title, _half(made, half))
    words = dict(line.split(": ", 1) for line in made.text.splitlines() if ": " in line)
    points = [Point(f"rank {rank}", word) for rank, word in words.items()]
    svg = tollbar.draw_svg(made, tollbar.LogP(L=10, o=5, g=3))
    return Exhibit(paper, number, title, "word", "", points, f"{title}: {sentence}.", drawing=svg)


def _half(plan: tollbar.Plan, half: str) -> str:
    """The words up to the arrival of each rank, or from there on. Rank 0 tells nobody that it arrives."""
    lines = []
    for line in plan.text.splitlines():
        rank, _, word = line.partition(": ")
        steps = word.split()
        arrived = next(n for n, step in enumerate(steps) if step.startswith("!")) + (rank != "0")
        lines.append(f"{rank}: {' '.join(steps[:arrived] if half == 'arrival' else steps[arrived:])}".rstrip())
    return "\n".join(lines)


def picture(exhibit: Exhibit) -> str:
    """The exhibit's SVG; empty where it has neither curve nor drawing. One with a name space stands alone."""
    if exhibit.drawing is not None:
        return exhibit.drawing
    shown = [point for point in exhibit.points if _values(point) and point.series not in exhibit.aside]
    return _curves(exhibit, shown) if shown else ""


def alone(svg: str) -> str:
    """The same as a file of its own, with the page's colours."""
    if stands_alone(svg):
        return svg
    colours = _CSS.read_text(encoding="utf-8").split("* {", 1)[0]
    head, rest = svg.split(">", 1)
    names = ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"{head}{names}><style>{colours} svg {{ background: var(--paper); }}</style>{rest}\n"


def stands_alone(svg: str) -> bool:
    """Whether it has styles of its own, which must not reach a page."""
    return svg.startswith("<svg xmlns")


def time_line(name: str, histories: Mapping[str, Sequence[tollbar.NicSpan]]) -> str:
    """What every unit of every node does: a lane a node and a place where the barrier runs."""
    lanes = [(where, rank) for where, spans in histories.items() for rank in sorted({s.rank for s in spans})]
    with matplotlib.rc_context(_style(name) | {"axes.grid": False}):
        figure = Figure(figsize=(9.6, 1.1 + _LANE * len(lanes)))
        axes = figure.subplots()
        for where, spans in histories.items():
            for span in spans:
                stage = list(_STAGES).index(span.stage)
                bottom = lanes.index((where, span.rank)) - 0.45 + 0.15 * stage
                width = span.until_us - span.from_us
                axes.add_patch(
                    Rectangle(
                        (span.from_us, bottom), width, 0.14, linewidth=0, facecolor=plots.series(_STAGES[span.stage])
                    )
                )
        last = max(span.until_us for spans in histories.values() for span in spans)
        axes.set_xlim(0, last)
        axes.set_ylim(len(lanes) - 0.4, -0.6)
        axes.set_yticks(range(len(lanes)), [f"{where}, node {rank}" for where, rank in lanes])
        axes.set_xlabel("us")
        handles = [Rectangle((0, 0), 1, 1, color=plots.series(colour)) for colour in _STAGES.values()]
        figure.legend(handles, list(_STAGES), loc="lower center", ncols=len(_STAGES), borderaxespad=0.2)
        figure.subplots_adjust(left=0.14, right=0.99, top=0.97, bottom=0.28)
        return _finished(figure, name)


def heat_map(name: str, times: Mapping[tuple[int, int], float], xlabel: str, ylabel: str) -> str:
    """A cell for each pair, with its time in it: the slower, the fuller its colour, on a log scale."""
    with matplotlib.rc_context(_style(name) | {"axes.grid": False}):
        figure = Figure(figsize=(5.4, 3.5))
        axes = figure.subplots()
        axes.set_axisbelow(True)
        columns, rows = (sorted(set(numbers)) for numbers in zip(*times, strict=True))
        least, most = np.log(min(times.values())), np.log(max(times.values()))
        for (x, y), value in times.items():
            at = columns.index(x) - 0.5, rows.index(y) - 0.5
            warmth = (np.log(value) - least) / (most - least) if most > least else 0.0
            axes.add_patch(Rectangle(at, 1, 1, facecolor=plots.series(0), alpha=0.04 + 0.5 * warmth, linewidth=0))
            axes.text(at[0] + 0.5, at[1] + 0.5, charts.time_text(value), ha="center", va="center", fontsize=9)
        for axis, ticks in ((axes.xaxis, columns), (axes.yaxis, rows)):
            axis.set_ticks(range(len(ticks)), [str(each) for each in ticks])
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(-0.5, len(rows) - 0.5)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        figure.subplots_adjust(left=0.13, right=0.985, top=0.975, bottom=0.15)
        return _finished(figure, f"time by {xlabel} and {ylabel}")


def _style(salt: str) -> dict[RcKeyType, Any]:
    """The page's style; equal salts give equal names inside a picture."""
    return cast("dict[RcKeyType, Any]", plots.STYLE | {"svg.hashsalt": salt})


def _values(point: Point) -> bool:
    return any(value is not None for value in (point.published, point.model, point.measured, point.predicted))


def _curves(exhibit: Exhibit, shown: Sequence[Point]) -> str:
    names = list(dict.fromkeys(point.series for point in shown))
    words = [point.x for point in shown if isinstance(point.x, str)]
    places = {word: index for index, word in enumerate(dict.fromkeys(words))}
    with matplotlib.rc_context(_style(f"{exhibit.paper} {exhibit.number}")):
        figure = Figure(figsize=_SIZE)
        axes = figure.subplots()
        for number, name in enumerate(names):
            _series(axes, [point for point in shown if point.series == name], name, number, places)
        numbers = [value for point in shown for value in _all(point)]
        if exhibit.log_y and min(numbers) > 0 and max(numbers) > 20 * min(numbers):
            axes.set_yscale("log")
        if places:
            axes.set_xticks(range(len(places)), list(places), rotation=20 if len(places) > 4 else 0)
        elif exhibit.log_x and min(float(point.x) for point in shown) > 0:
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlabel(exhibit.x)
        axes.set_ylabel(exhibit.y)
        axes.legend(fontsize=_LEGEND_PT, loc="center left", bbox_to_anchor=(1.01, 0.5))
        _make_room(figure, axes.get_legend_handles_labels()[1], slanted=len(places) > 4)
        return _finished(figure, f"{exhibit.number}: {exhibit.title}")


def _make_room(figure: Figure, legend: Sequence[str], slanted: bool) -> None:
    """For a legend with such lines beside the curves."""
    width = _SIZE[0] + 0.5 + max(map(len, legend)) * _LEGEND_PT / 72 * 0.6
    figure.set_size_inches(width, max(_SIZE[1], (len(legend) + 4) * _LEGEND_PT / 72 * 1.6))
    bottom = 0.24 if slanted else 0.14
    figure.subplots_adjust(left=0.8 / width, right=_SIZE[0] / width, top=0.97, bottom=bottom)


def _all(point: Point) -> list[float]:
    every = (point.published, point.model, point.measured, point.predicted)
    return [value for value in every if value is not None]


def _series(axes: Axes, points: Sequence[Point], name: str, number: int, places: Mapping[str, int]) -> None:
    """Model: a line. Printed: rings. Measured: squares. What the model gives for this machine: dotted."""
    colour = plots.series(number % charts.COLOURS)
    ways: dict[str, dict[str, Any]] = {
        "model": {"linestyle": "-", "label": name},
        "published": {
            "linestyle": "",
            "marker": "o",
            "markersize": 9,
            "markerfacecolor": "none",
            "label": f"{name}, printed",
        },
        "measured": {"linestyle": (0, (4, 2)), "marker": "s", "label": f"{name}, here"},
        "predicted": {"linestyle": (0, (1, 1.2))},  # the page says what dots mean
    }
    for way, style in ways.items():
        known = [
            (places[point.x] if isinstance(point.x, str) else point.x, value)
            for point in points
            if (value := getattr(point, way)) is not None
        ]
        if len(known) == 1 and way == "model":
            style = style | {"marker": "."}
        if known:
            axes.plot(*zip(*sorted(known), strict=True), color=colour, **style)


def _finished(figure: Figure, name: str) -> str:
    figure.patch.set_alpha(0)
    for axes in figure.axes:
        axes.patch.set_alpha(0)
    return plots.as_text(figure, name)

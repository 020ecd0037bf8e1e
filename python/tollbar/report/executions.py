# SPDX-License-Identifier: Apache-2.0
"""The picture of an execution: processors as lanes, time to the right, what each processor does in colour.

Markatos et al. 1991 have their simulator draw "a graphical history of the simulated execution"; this is ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

import tollbar
from tollbar.report import charts, plots

MOST_SPANS = 5000  #: a page still scrolls with so many shapes in it
_WIDTH, _LANE = 9.6, 0.26  # inches
_COLOURS = {"computing": 2, "spinning": 1, "switching": 3, "waking": 4, "neighbour": 0, "idle": 8}
_OCCUR = ("waking", "neighbour")  #: in a legend only where they occur: under a fair kernel, beside others
_WORDS = {
    "computing": "computes", "spinning": "spins", "switching": "is switched to", "waking": "wakes others",
}  # fmt: skip
_IDLE_ALPHA = 0.2
_ZOOM = Path(__file__).parent / "templates" / "zoom.js"
#: What a page has, for a picture that stands alone.
_ALONE = """
:root { --font: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; --paper: #ffffff; --ink: #1d2126;
  --muted: #666e78; --grid: #e2e3e5; --series-0: #0a62b5; --series-1: #c43d3d; --series-2: #1a7f4b;
  --series-3: #c47a00; --series-4: #7447b8; --series-8: #6b7480; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e7e9ec; --muted: #9aa3ae;
  --grid: #343a43; --series-0: #6cb2ff; --series-1: #ff7b7b; --series-2: #59c58c; --series-3: #f0a93a;
  --series-4: #b795f0; --series-8: #a7b0bb; } }
svg { background: var(--paper); }
"""


@dataclass(frozen=True)
class Picture:
    """What is drawn: the history of `processors` processors in a window of time."""

    name: str  #: makes the figure's ids its own
    title: str
    processors: int
    from_us: float
    until_us: float
    quantum_us: float
    spans: Sequence[tollbar.SchedulerSpan]
    applications: int = 1
    dashed: str = "a quantum ends"  #: what the dashed lines are, one every `quantum_us`
    completed_us: Sequence[float] = ()  #: when each application is done
    arrived_us: Sequence[float] = ()  #: when each application arrives; at 0 needs no mark

    @property
    def marks(self) -> list[tuple[float, str]]:
        """When applications come and are done, inside the picture."""
        found = [(us, number, "arrives") for number, us in enumerate(self.arrived_us) if us > 0]
        found += [(us, number, "done") for number, us in enumerate(self.completed_us)]
        return [
            (us, f"application {number} {what}" if self.applications > 1 else what)
            for us, number, what in found
            if self.from_us <= us <= self.until_us
        ]

    @property
    def colours(self) -> dict[str, int]:
        occur = {span.activity for span in self.spans}
        return {kind: colour for kind, colour in _COLOURS.items() if kind in occur or kind not in _OCCUR}


def draw(picture: Picture) -> str:
    """SVG to stand inside a page, which decides how it zooms."""
    style = plots.STYLE | {"svg.hashsalt": picture.name, "axes.grid": False}
    with matplotlib.rc_context(style):
        height = 1.25 + _LANE * picture.processors
        figure = Figure(figsize=(_WIDTH, height))
        figure.patch.set_alpha(0)
        axes = figure.subplots()
        axes.patch.set_alpha(0)
        titles = _lanes(axes, picture)
        _frame(axes, picture)
        above = 0.5 if picture.marks else 0.38
        figure.subplots_adjust(left=0.06, right=0.985, top=1 - above / height, bottom=0.82 / height)
        handles = [
            Rectangle((0, 0), 1, 1, color=plots.series(colour), alpha=_IDLE_ALPHA if kind == "idle" else 0.85)
            for kind, colour in picture.colours.items()
        ]
        names = list(picture.colours)
        figure.legend(handles, names, loc="lower center", ncols=len(names), borderaxespad=0.2)
        return plots.as_text(figure, picture.title, titles)


def alone(picture: Picture) -> str:
    """The same as a file of its own: the wheel zooms, dragging moves, a double click shows all again."""
    svg = draw(picture)
    head, rest = svg.rstrip().removesuffix("</svg>").split(">", 1)
    return (
        f'{head} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<title>{escape(picture.title)}</title><style>{_ALONE}</style>{rest}"
        f"<script><![CDATA[{_ZOOM.read_text()}]]></script></svg>\n"
    )


def _lanes(axes: matplotlib.axes.Axes, picture: Picture) -> dict[str, str]:
    """Draws every span and gives the words for each: what a pointer that rests on it is told."""
    titles = {}
    labelled = (picture.until_us - picture.from_us) / 60  # narrower spans have no room for a number
    for number, span in enumerate(picture.spans):
        length = span.until_us - span.from_us
        shape = Rectangle(
            (span.from_us, span.processor - 0.4),
            length,
            0.8,
            linewidth=0,
            facecolor=plots.series(_COLOURS[span.activity]),
            alpha=_alpha(span),
        )
        shape.set_gid(f"span-{number}")
        axes.add_patch(shape)
        when = f"{charts.time_text(length * 1000)} from {span.from_us / 1000:.6g} ms"
        titles[f"span-{number}"] = f"processor {span.processor}: {_who_does_what(span, picture)}, {when}"
        if length > labelled and span.activity in ("computing", "spinning"):
            middle = (span.from_us + span.until_us) / 2, span.processor
            axes.text(*middle, str(span.thread), ha="center", va="center_baseline", fontsize=8)
    return titles


def _alpha(span: tollbar.SchedulerSpan) -> float:
    """Every second application is paler."""
    if span.activity in ("idle", "neighbour"):
        return _IDLE_ALPHA if span.activity == "idle" else 0.85
    return 0.85 - 0.35 * (span.application % 2)


def _who_does_what(span: tollbar.SchedulerSpan, picture: Picture) -> str:
    if span.activity == "idle":
        return "idle"
    if span.application == picture.applications:
        return f"neighbour {span.thread} {'runs' if span.activity == 'neighbour' else 'is switched to'}"
    application = f"application {span.application}, " if picture.applications > 1 else ""
    return f"{application}thread {span.thread} {_WORDS[span.activity]}"


def _frame(axes: matplotlib.axes.Axes, picture: Picture) -> None:
    first = math.ceil(picture.from_us / picture.quantum_us)
    last = math.floor(picture.until_us / picture.quantum_us)
    if last - first < 200:
        for quantum in range(max(first, 1), last + 1):
            axes.axvline(quantum * picture.quantum_us, color=plots.MUTED, linewidth=0.7, linestyle=(0, (3, 3)))
    for us, words in picture.marks:
        axes.axvline(us, color=plots.series(0), linewidth=1.6)
        axes.text(us, -0.55, f"{words} ", ha="right", va="bottom", fontsize=8)
    axes.set_xlim(picture.from_us, picture.until_us)
    axes.set_ylim(picture.processors - 0.4, -0.6)
    axes.set_yticks(range(picture.processors))
    axes.tick_params(axis="y", length=0)
    axes.set_title(picture.title, fontsize=11, loc="left", pad=14 if picture.marks else 6)
    axes.set_xlabel(f"ms; dashed: {picture.dashed}", loc="right", fontsize=10)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: f"{us / 1000:g}"))

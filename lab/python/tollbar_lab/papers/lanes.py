# SPDX-License-Identifier: Apache-2.0
"""Pictures of executions: a lane for each processor or unit, time to the right, what each does in colour.

Markatos et al. 1991 have their simulator draw "a graphical history of the simulated execution"; this is ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure as Drawing
from matplotlib.patches import Rectangle
from tollbar.report import pictures
from tollbar.report.charts import time_text

import tollbar_lab

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SPANS = 5000  #: a viewer still scrolls with so many shapes in it
_WIDTH, _LANE = 9.6, 0.26  # inches
_ZOOM = Path(__file__).parent / "templates" / "zoom.js"
_COLOURS = {"computing": 2, "spinning": 1, "switching": 3, "waking": 4, "neighbour": 0, "idle": 8}
_OCCUR = ("waking", "neighbour")  # in a legend only where they occur: under a fair kernel, beside others
_WORDS = {
    "computing": "computes", "spinning": "spins", "switching": "is switched to", "waking": "wakes others",
}  # fmt: skip


@dataclass(frozen=True)
class Span:
    """A stretch of time in which a lane does one thing."""

    lane: int
    from_us: float
    until_us: float
    kind: str
    words: str  #: for a pointer that rests on it
    label: str = ""  #: drawn in it, where there is room
    alpha: float = 0.85


@dataclass(frozen=True)
class Lanes:
    """Lanes in a window of time."""

    title: str
    names: Sequence[str]
    until_us: float
    spans: Sequence[Span]
    colours: Mapping[str, int]  #: of each kind, in the order of the legend
    dashed_us: Sequence[float] = ()
    dashed: str = ""  #: what the dashed lines are
    marks: Sequence[tuple[float, str]] = ()  #: other moments, with words


def history(
    outcome: tollbar_lab.SchedulerOutcome,
    title: str,
    processors: int,
    until_us: float,
    quantum_us: float,
    dashed: str = "a quantum ends",
) -> Lanes:
    """The processors of a simulated execution as lanes; dashed lines are one every `quantum_us`."""
    applications = len(outcome.applications)
    occur = {span.activity for span in outcome.history}
    quanta = math.floor(until_us / quantum_us)
    moments = [
        (us, f"application {number} {what}" if applications > 1 else what)
        for number, application in enumerate(outcome.applications)
        for us, what in ((application.arrival_us, "arrives"), (application.completed_us, "done"))
        if (us > 0 or what == "done") and us <= until_us
    ]
    return Lanes(
        title,
        [str(processor) for processor in range(processors)],
        until_us,
        [_span(span, applications) for span in outcome.history],
        {kind: colour for kind, colour in _COLOURS.items() if kind in occur or kind not in _OCCUR},
        [quantum * quantum_us for quantum in range(1, quanta + 1)] if quanta < 200 else [],
        dashed,
        sorted(moments),
    )


def _span(span: tollbar_lab.SchedulerSpan, applications: int) -> Span:
    """The span of a processor; every second application is paler."""
    application = f"application {span.application}, " if applications > 1 else ""
    if span.activity == "idle":
        what, alpha = "idle", 0.2
    elif span.application == applications:
        what = f"neighbour {span.thread} {'runs' if span.activity == 'neighbour' else 'is switched to'}"
        alpha = 0.85
    else:
        what = f"{application}thread {span.thread} {_WORDS[span.activity]}"
        alpha = 0.85 - 0.35 * (span.application % 2)
    words = f"processor {span.processor}: {what}"
    label = str(span.thread) if span.activity in ("computing", "spinning") else ""
    return Span(span.processor, span.from_us, span.until_us, span.activity, words, label, alpha)


def svg(lanes: Lanes) -> str:
    """A file of its own: the wheel zooms, dragging moves, a double click shows all again."""
    height = 1.25 + _LANE * len(lanes.names)
    drawn = Drawing(figsize=(_WIDTH, height))
    axes = drawn.subplots()
    titles = _spans(axes, lanes)
    _frame(axes, lanes)
    left = 0.03 + 0.008 * max(map(len, lanes.names))
    drawn.subplots_adjust(left=left, right=0.985, top=1 - (0.5 if lanes.marks else 0.38) / height, bottom=0.82 / height)
    handles = [Rectangle((0, 0), 1, 1, color=pictures.COLOURS[colour], alpha=0.85) for colour in lanes.colours.values()]
    drawn.legend(handles, list(lanes.colours), loc="lower center", ncols=len(handles), borderaxespad=0.2, frameon=False)
    text = pictures.svg(drawn, lanes.title)
    text = re.sub(r'<g id="(span-\d+)">', lambda group: f"{group[0]}<title>{escape(titles[group[1]])}</title>", text)
    head, rest = text.rstrip().removesuffix("</svg>").split(">", 1)
    title, zoom = f"<title>{escape(lanes.title)}</title>", f"<script><![CDATA[{_ZOOM.read_text()}]]></script>"
    return f"{head}>{title}{rest}{zoom}</svg>\n"


def _spans(axes: Axes, lanes: Lanes) -> dict[str, str]:
    """Draws every span; gives the words for each by its id."""
    titles = {}
    for number, span in enumerate(lanes.spans):
        length = span.until_us - span.from_us
        colour = pictures.COLOURS[lanes.colours[span.kind]]
        shape = Rectangle((span.from_us, span.lane - 0.4), length, 0.8, linewidth=0, facecolor=colour, alpha=span.alpha)
        shape.set_gid(f"span-{number}")
        axes.add_patch(shape)
        titles[f"span-{number}"] = f"{span.words}, {time_text(length * 1000)} from {span.from_us / 1000:.6g} ms"
        if span.label and length > lanes.until_us / 60:  # narrower spans have no room for a number
            middle = (span.from_us + span.until_us) / 2, span.lane
            axes.text(*middle, span.label, ha="center", va="center_baseline", fontsize=8)
    return titles


def _frame(axes: Axes, lanes: Lanes) -> None:
    for us in lanes.dashed_us:
        axes.axvline(us, color="#666e78", linewidth=0.7, linestyle=(0, (3, 3)))
    for us, words in lanes.marks:
        axes.axvline(us, color=pictures.COLOURS[0], linewidth=1.6)
        axes.text(us, -0.55, f"{words} ", ha="right", va="bottom", fontsize=8)
    axes.set_xlim(0, lanes.until_us)
    axes.set_ylim(len(lanes.names) - 0.4, -0.6)
    axes.set_yticks(range(len(lanes.names)), lanes.names)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(lanes.title, fontsize=11, loc="left", pad=14 if lanes.marks else 6)
    unit, size = ("ms", 1000) if lanes.until_us > 1000 else ("us", 1)
    axes.set_xlabel(f"{unit}; dashed: {lanes.dashed}" if lanes.dashed else unit, loc="right", fontsize=10)
    axes.xaxis.set_major_formatter(lambda us, _: f"{us / size:g}")

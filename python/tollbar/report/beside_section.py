# SPDX-License-Identifier: Apache-2.0
"""The report's section on a run of `bench threads --beside`: a sentence, a chart, a row for each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tollbar.data import beside
from tollbar.data.beside import AUTO, FIXED, GROUP, TUNED, Spread
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.report import tables
from tollbar.report.candidates import PEERS
from tollbar.report.charts import time_text
from tollbar.report.figures import Axis, Figure, Line
from tollbar.report.tables import times_text

#: The neighbours in words, in the order of tables.
WORDS = {
    "alone": "alone",
    "1 neighbour": "beside a busy neighbour",
    "2 neighbours": "beside two busy neighbours",
    "1 neighbour in another session": "beside one in another session",
    "1 neighbour in another cgroup": "beside one in another control group",
    "a quota of 1.5 CPUs": "under a quota of 1.5 CPUs",
}
_SENTENCE = {
    "1 neighbour in another session": "beside a busy neighbour in another session",
    "1 neighbour in another cgroup": "beside a busy neighbour in another control group",
}
_AGAINST = ("pthread_barrier", "std::barrier")
_RATIO = Axis("times the best way to wait, less is better", "log")


@dataclass(frozen=True)
class Beside:
    """The sentence of the first screen, and the section; a row has the best, its turn, and a ratio (or None)
    for each label."""

    sentence: Markup
    figure: Figure
    labels: Sequence[str]
    rows: Sequence[tuple[Situation, str, float, Sequence[float | None]]]


def of(samples: Samples) -> Beside | None:
    """None where nothing was measured in neighbours."""
    there = beside.gather(samples)
    if not there:
        return None
    shown = labels(there)
    rows = [
        (place, best, beside.turn_ns(here, best), [beside.ratio(here, label) for label in shown])
        for place, here in there.items()
        if (best := beside.best(here))
    ]
    return Beside(_sentence(there), _figure(there, shown), shown, rows)


def labels(there: Mapping[Situation, Measurements]) -> list[str]:
    """All that was measured: what need not be told how to wait, what users have today, what is told."""
    met = dict.fromkeys(label for here in there.values() for label in here.labels(beside.TURN))
    first, last = [AUTO, GROUP, TUNED], [*PEERS, *FIXED]
    others = [label for label in met if label not in (*first, *last)]
    return [label for label in (*first, *others, *last) if label in met]


def word(neighbours: str) -> str:
    return WORDS.get(neighbours, neighbours)


def _sentence(there: Mapping[Situation, Measurements]) -> Markup:
    """tollbar::barrier in the first neighbours that was measured, against the best and others; and alone."""
    met = beside.by_neighbours(there)
    known = {each: found for each, some in met.items() if (found := beside.spread(some, AUTO))}
    if not known:
        return Markup("<code>{}</code> was not measured.").format(AUTO)
    first = next((each for each in known if each != "alone"), "alone")
    where, found = _SENTENCE.get(first, word(first)), known[first]
    many = f", in the median of {len(found.ratios)} cells," if len(found.ratios) > 1 else ""
    text = Markup("{}{}{} <code>{}</code> takes {} as long as the best way to wait{}")
    worst = f" (at worst {_at(found)}: {found.worst.of_threads})" if many else f" ({found.worst.of_threads})"
    said = text.format(where[0].upper(), where[1:], many, AUTO, _times(found.median), worst)
    for peer in _AGAINST:
        if over := beside.spread(met[first], AUTO, peer):
            said += Markup(", {} as long as <code>{}</code>").format(_times(over.median), peer)
    if first != "alone" and "alone" in known:
        text = Markup("; alone {} as long as the best (at worst {})")
        said += text.format(_times(known["alone"].median), _at(known["alone"]))
    return said + "."


def _times(ratio: float) -> Markup:
    return Markup("<strong>{} \u00d7</strong>").format(times_text(ratio))


def _at(found: Spread) -> str:
    return f"{times_text(found.ratios[found.worst])}\u00a0\u00d7"


def _figure(there: Mapping[Situation, Measurements], shown: Sequence[str]) -> Figure:
    """Two rows a neighbours: the median over its cells, and the worst one."""
    met = beside.by_neighbours(there)
    groups = [word(neighbours) for neighbours in met for _ in ("median", "worst")]
    lines = []
    for label in reversed([each for each in shown if each not in FIXED]):  # the first one is drawn last
        points: list[tuple[int, float, str]] = []
        for number, some in enumerate(met.values()):
            if found := beside.spread(some, label):
                far = f"{found.above} of {len(found.ratios)} cells above {beside.AS_GOOD:g}"
                points.append((2 * number, found.median, far))
                points.append((2 * number + 1, found.ratios[found.worst], found.worst.of_threads))
        rows, values, notes = zip(*points, strict=True)
        lines.append(Line(label, rows, values, notes=notes))
    caption = "A turn over that of the best way to wait: the median over the cells, and the worst cell"
    rows_of = Axis("", words=["median", "worst"] * len(met))
    return Figure("neighbours", caption, lines, rows_of, _RATIO, spread="", groups=groups)


def markdown(samples: Samples) -> str:
    """Both tables for a page of documentation; empty where nothing was measured in neighbours."""
    there = beside.gather(samples)
    if not there:
        return ""
    shown = labels(there)
    by_kind = (
        [word(neighbours), *(_ratios_text(beside.spread(some, label)) for label in shown)]
        for neighbours, some in beside.by_neighbours(there).items()
    )
    every = (
        [
            word(cell.neighbours),
            str(cell.ranks),
            cell.placement,
            cell.work,
            beside.best(here),
            time_text(beside.turn_ns(here, beside.best(here))),
            *(times_text(beside.ratio(here, label)) for label in shown),
        ]
        for cell, here in there.items()
    )
    cost = tables.markdown_table(["neighbours", *shown], by_kind)
    names = ["neighbours", "threads", "placement", "computing", "best", "a turn of it", *shown]
    return f"{cost}\nEvery cell:\n\n{tables.markdown_table(names, every)}"


def counted(there: Mapping[Situation, Measurements]) -> list[str]:
    """Sentences about all cells together: against the best way to wait, and against what users have today."""
    said = []
    for peer, limit in ((None, beside.AS_GOOD), ("pthread_barrier", 1.1)):
        if found := beside.spread(there, AUTO, peer):
            above, cell = sum(ratio > limit for ratio in found.ratios.values()), found.worst
            than = f"`{peer}`" if peer else "the best way to wait there"
            said.append(
                f"Of {len(found.ratios)} cells, alone and beside neighbours, `{AUTO}` takes more than "
                f"{limit:g} times as long as {than} in {above}; "
                f"{times_text(found.median)} times in the median, "
                f"{times_text(found.ratios[cell])} at worst ({word(cell.neighbours)}: {cell.of_threads})."
            )
    return said


def _ratios_text(found: Spread | None) -> str:
    return f"{times_text(found.median)} ({times_text(found.ratios[found.worst])})" if found else ""

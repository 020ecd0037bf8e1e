# SPDX-License-Identifier: Apache-2.0
"""The report's section on a run of `bench threads --beside`: a chart and a row for each cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
_RATIO = Axis("times the best way to wait, less is better", "log")


@dataclass(frozen=True)
class Beside:
    """A chart and a row for each cell: the best, its turn, and a ratio (or None) for each label."""

    figure: Figure
    labels: Sequence[str]
    rows: Sequence[tuple[Situation, str, float, Sequence[float | None]]]


def of(samples: Samples) -> Beside | None:
    """The section; None where nothing was measured beside neighbours."""
    cells = beside.gather(samples)
    if not cells:
        return None
    shown = labels(cells)
    rows = [
        (place, best, beside.turn_ns(measured, best), [beside.ratio(measured, label) for label in shown])
        for place, measured in cells.items()
        if (best := beside.best(measured))
    ]
    return Beside(_figure(cells, shown), shown, rows)


def labels(cells: Mapping[Situation, Measurements]) -> list[str]:
    """The barriers that were measured: those that choose how to wait, those of today, those that are told."""
    met = dict.fromkeys(label for measured in cells.values() for label in measured.labels(beside.TURN))
    first, last = [AUTO, GROUP, TUNED], [*PEERS, *FIXED]
    others = [label for label in met if label not in (*first, *last)]
    return [label for label in (*first, *others, *last) if label in met]


def word(neighbours: str) -> str:
    return WORDS.get(neighbours, neighbours)


def _figure(cells: Mapping[Situation, Measurements], shown: Sequence[str]) -> Figure:
    """Two rows a neighbours: the median over its cells, and the worst one."""
    met = beside.by_neighbours(cells)
    groups = [word(neighbours) for neighbours in met for _ in ("median", "worst")]
    lines = []
    for label in reversed([label for label in shown if label not in FIXED]):  # the first one is drawn last
        points: list[tuple[int, float, str]] = []
        for number, some in enumerate(met.values()):
            if spread := beside.spread(some, label):
                far = f"{spread.above} of {len(spread.ratios)} cells above {beside.AS_GOOD:g}"
                points.append((2 * number, spread.median, far))
                points.append((2 * number + 1, spread.ratios[spread.worst], spread.worst.of_threads))
        rows, values, notes = zip(*points, strict=True)
        lines.append(Line(label, rows, values, notes=notes))
    caption = "A turn over that of the best way to wait: the median over the cells, and the worst cell"
    rows_of = Axis("", words=["median", "worst"] * len(met))
    return Figure("neighbours", caption, lines, rows_of, _RATIO, spread="", groups=groups)


def markdown(samples: Samples) -> str:
    """Both tables for a page of documentation; empty where nothing was measured in neighbours."""
    cells = beside.gather(samples)
    if not cells:
        return ""
    shown = labels(cells)
    by_kind = (
        [word(neighbours), *(_ratios_text(beside.spread(some, label)) for label in shown)]
        for neighbours, some in beside.by_neighbours(cells).items()
    )
    every = (
        [
            word(cell.neighbours),
            str(cell.ranks),
            cell.placement,
            cell.work,
            beside.best(measured),
            time_text(beside.turn_ns(measured, beside.best(measured))),
            *(times_text(beside.ratio(measured, label)) for label in shown),
        ]
        for cell, measured in cells.items()
    )
    cost = tables.markdown_table(["neighbours", *shown], by_kind)
    names = ["neighbours", "threads", "placement", "computing", "best", "a turn of it", *shown]
    return f"{cost}\nEvery cell:\n\n{tables.markdown_table(names, every)}"


def counted(cells: Mapping[Situation, Measurements]) -> list[str]:
    """Sentences about all cells together: against the best way to wait, and against what users have today."""
    sentences = []
    for peer, limit in ((None, beside.AS_GOOD), ("pthread_barrier", 1.1)):
        if spread := beside.spread(cells, AUTO, peer):
            above, cell = sum(ratio > limit for ratio in spread.ratios.values()), spread.worst
            than = f"`{peer}`" if peer else "the best way to wait there"
            sentences.append(
                f"Of {len(spread.ratios)} cells, alone and beside neighbours, `{AUTO}` takes more than "
                f"{limit:g} times as long as {than} in {above}; "
                f"{times_text(spread.median)} times in the median, "
                f"{times_text(spread.ratios[cell])} at worst ({word(cell.neighbours)}: {cell.of_threads})."
            )
    return sentences


def _ratios_text(spread: Spread | None) -> str:
    return f"{times_text(spread.median)} ({times_text(spread.ratios[spread.worst])})" if spread else ""

# SPDX-License-Identifier: Apache-2.0
"""The report's section on a run of `bench threads --beside`: a chart and a row for each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tollbar.backports import zip_equal
from tollbar.data import beside
from tollbar.data.beside import AUTO, FIXED, GROUP, TUNED
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import FEWEST, Interval
from tollbar.report import tables
from tollbar.report.candidates import PEERS
from tollbar.report.figures import Axis, Curve, Figure

#: The neighbours in words, in the order of tables.
WORDS = {
    "alone": "alone",
    "1 neighbour": "beside a busy neighbour",
    "2 neighbours": "beside two busy neighbours",
    "1 neighbour in another session": "beside one in another session",
    "1 neighbour in another cgroup": "beside one in another control group",
    "a quota of 1.5 CPUs": "under a quota of 1.5 CPUs",
}
_SHARE = Axis(f"share of cells above {beside.AS_GOOD:g} times the best, less is better")


@dataclass(frozen=True)
class Beside:
    """A chart and a row for each cell: the best, its turn, and a ratio to the best (or None) for each label."""

    figure: Figure
    labels: Sequence[str]
    rows: Sequence[tuple[Situation, str, float, Sequence[Interval | None]]]


def of(samples: Samples) -> Beside | None:
    """The section; None where nothing was measured beside neighbours."""
    cells = beside.gather(samples)
    if not cells:
        return None
    shown = labels(cells)
    rows = [
        (place, best, beside.turn_ns(measured, best), [beside.over_best(measured, label) for label in shown])
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
    """Two rows a neighbours: the share of cells that are above for certain, and that of those that may be."""
    met = beside.by_neighbours(cells)
    groups = [word(neighbours) for neighbours in met for _ in range(2)]
    lines = []
    for label in reversed([label for label in shown if label not in FIXED]):  # the first one is drawn last
        points: list[tuple[int, float, str]] = []
        for number, some in enumerate(met.values()):
            if count := beside.count(some, label):
                points.append((2 * number, count.certain / count.situations, f"{count.certain} of {count.situations}"))
                points.append(
                    (2 * number + 1, count.possible / count.situations, f"{count.possible} of {count.situations}")
                )
        rows, values, notes = zip_equal(*points)
        lines.append(Curve(label, rows, values, notes=notes))
    caption = (
        f"Cells in which a turn is more than {beside.AS_GOOD:g} times that of the best way to wait, by 95 % intervals"
    )
    rows_of = Axis("", words=["certainly", "possibly"] * len(met))
    return Figure("neighbours", caption, lines, rows_of, _SHARE, spread="", groups=groups)


def counts(samples: Samples) -> str:
    """The table of cells that are above a limit, for a page; empty where nothing was measured beside neighbours."""
    cells = beside.gather(samples)
    if not cells:
        return ""
    shown = labels(cells)
    rows = (
        [word(neighbours), *(count.text if (count := beside.count(some, label)) else "" for label in shown)]
        for neighbours, some in beside.by_neighbours(cells).items()
    )
    return tables.markdown_table(["neighbours", *shown], rows)


def lines(cells: Mapping[Situation, Measurements]) -> Iterator[str]:
    """For each kind of neighbours the cells in which what does not have to be told how to wait is far from the best."""
    for neighbours, some in beside.by_neighbours(cells).items():
        for label in (AUTO, GROUP):
            if count := beside.count(some, label):
                yield f"{word(neighbours)}: {label} over {beside.AS_GOOD:g} times the best: {_counted(count)}"
    if count := beside.count(cells, TUNED, GROUP):
        yield f"{TUNED} over {beside.AS_GOOD:g} times the untuned one: {_counted(count)}"


def _counted(count: beside.Count) -> str:
    few = "" if count.launches >= FEWEST else f"; {tables.few_text(count.launches)}"
    return f"certainly in {count.certain}, possibly in {count.possible} of {count.situations} cells{few}"


def counted(cells: Mapping[Situation, Measurements]) -> list[str]:
    """Sentences about all cells together: against the best way to wait, and against what users have today."""
    sentences = []
    for peer, limit in ((None, beside.AS_GOOD), ("pthread_barrier", 1.1)):
        if count := beside.count(cells, AUTO, peer, limit):
            than = f"`{peer}`" if peer else "the best way to wait there"
            sentences.append(
                f"Of {count.situations} cells, alone and beside neighbours, `{AUTO}` certainly takes more than "
                f"{limit:g} times as long as {than} in {count.certain}, and possibly in {count.possible} (95 % a cell; "
                f"{count.launches} launches or more)."
            )
    return sentences

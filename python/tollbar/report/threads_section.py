# SPDX-License-Identifier: Apache-2.0
"""The report's section on threads: what to use, curves of bare episodes, and cells in which turns were timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tollbar.backports import zip_equal
from tollbar.data import cells as data
from tollbar.data import choice, places
from tollbar.data.cells import AUTO, FIXED, GROUP, TUNED
from tollbar.data.choice import Choice
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import FEWEST, Interval
from tollbar.report import curves, tables
from tollbar.report.candidates import PEERS
from tollbar.report.figures import Axis, Curve, Figure

_SHARE = Axis(f"share of cells above {data.AS_GOOD:g} times the best, less is better")


@dataclass(frozen=True)
class Cells:
    """A chart and a row for each cell: the best, its turn, and a ratio to the best (or None) for each label."""

    figure: Figure
    labels: Sequence[str]
    rows: Sequence[tuple[Situation, str, float, Sequence[Interval | None]]]


@dataclass(frozen=True)
class Section:
    """Everything about one or several runs of threads."""

    choices: Sequence[tuple[Choice, Mapping[str, Interval | None]]]  #: with the loop periods of peers over the choice's
    placements: Sequence[str]
    figures: Mapping[str, Sequence[Figure]]
    everything: Sequence[tuple[Measurements, Sequence[Mapping[str, Any]]]]
    launches: tuple[int, int]  #: the fewest and the most of a situation
    apart: Sequence[Mapping[str, Any]]  #: between processes
    waits: Sequence[tuple[str, Interval]]
    cells: Cells | None


def of(samples: Samples) -> Section:
    """The section; its parts are empty where nothing was measured."""
    situations = places.threads(samples)
    choices = [chosen for measured in situations.values() if (chosen := choice.choose(measured)) is not None]
    return Section(
        [(chosen, tables.gains(situations[chosen.situation], chosen.pick)) for chosen in choices],
        list(dict.fromkeys(place.placement for place in situations)),
        curves.of_threads(situations),
        tables.everything(situations.values()),
        tables.launches(situations),
        tables.apart(samples),
        tables.waits(samples),
        cells(samples),
    )


def cells(samples: Samples) -> Cells | None:
    """The cells; None where no turns were timed."""
    there = data.gather(samples)
    if not there:
        return None
    shown = labels(there)
    rows = [
        (place, best, data.turn_ns(measured, best), [data.over_best(measured, label) for label in shown])
        for place, measured in there.items()
        if (best := data.best(measured))
    ]
    return Cells(_figure(there, shown), shown, rows)


def labels(there: Mapping[Situation, Measurements]) -> list[str]:
    """The barriers that were measured: those that choose how to wait, those of today, those that are told."""
    met = dict.fromkeys(label for measured in there.values() for label in measured.labels(data.TURN))
    first, last = [AUTO, GROUP, TUNED], [*PEERS, *FIXED]
    others = [label for label in met if label not in (*first, *last)]
    return [label for label in (*first, *others, *last) if label in met]


def _figure(there: Mapping[Situation, Measurements], shown: Sequence[str]) -> Figure:
    """Two rows a neighbours: the share of cells that are above for certain, and that of those that may be."""
    met = data.by_neighbours(there)
    groups = [who for who in met for _ in range(2)]
    lines = []
    for label in reversed([label for label in shown if label not in FIXED]):  # the first one is drawn last
        points: list[tuple[int, float, str]] = []
        for number, some in enumerate(met.values()):
            if count := data.count(some, label):
                points.append((2 * number, count.certain / count.situations, f"{count.certain} of {count.situations}"))
                points.append(
                    (2 * number + 1, count.possible / count.situations, f"{count.possible} of {count.situations}")
                )
        rows, values, notes = zip_equal(*points)
        lines.append(Curve(label, rows, values, notes=notes))
    caption = (
        f"Cells in which a turn is more than {data.AS_GOOD:g} times that of the best way to wait, by 95 % intervals"
    )
    rows_of = Axis("", words=["certainly", "possibly"] * len(met))
    return Figure("neighbours", caption, lines, rows_of, _SHARE, spread="", groups=groups)


def counts(samples: Samples) -> str:
    """The table of cells that are above a limit, for a page; empty where no turns were timed."""
    there = data.gather(samples)
    if not there:
        return ""
    shown = labels(there)
    rows = (
        [who, *(count.text if (count := data.count(some, label)) else "" for label in shown)]
        for who, some in data.by_neighbours(there).items()
    )
    return tables.markdown_table(["neighbours", *shown], rows)


def lines(there: Mapping[Situation, Measurements]) -> Iterator[str]:
    """For each kind of neighbours the cells in which what does not have to be told how to wait is far from the best."""
    for who, some in data.by_neighbours(there).items():
        for label in (AUTO, GROUP):
            if count := data.count(some, label):
                yield f"{who}: {label} over {data.AS_GOOD:g} times the best: {_counted(count)}"
    if count := data.count(there, TUNED, GROUP):
        yield f"{TUNED} over {data.AS_GOOD:g} times the untuned one: {_counted(count)}"


def _counted(count: data.Count) -> str:
    few = "" if count.launches >= FEWEST else f"; {tables.few_text(count.launches)}"
    return f"certainly in {count.certain}, possibly in {count.possible} of {count.situations} cells{few}"


def counted(there: Mapping[Situation, Measurements]) -> list[str]:
    """Sentences about all cells together: against the best way to wait, and against what users have today."""
    sentences = []
    for peer in (None, "pthread_barrier"):
        if count := data.count(there, AUTO, peer):
            than = f"`{peer}`" if peer else "the best way to wait there"
            sentences.append(
                f"Of {count.situations} cells, alone and beside neighbours, `{AUTO}` certainly takes more than "
                f"{data.AS_GOOD:g} times as long as {than} in {count.certain}, and possibly in {count.possible} "
                f"(95 % a cell; {count.launches} launches or more)."
            )
    return sentences

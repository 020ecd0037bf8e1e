# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --beside: every way to wait, whoever else wants the processors; a row a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli import arguments
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.data.beside import Count
    from tollbar.data.places import Measurements, Situation


@dataclass(frozen=True)
class Beside:
    """One cell: the best way to wait there, and how many times as long everybody takes."""

    beside: str = column(
        "who else wants the processors: alone; one or two endless loops in the same session; one in another "
        "session, or in another cgroup; nobody, under a quota of 1.5 CPUs"
    )
    ranks: int = column("how many threads")
    free: bool = column("whether they may move; else pinned to processors")
    work: str = column("microseconds of computing between barriers; with ~ varied by half")
    best: str = column("the fastest of tollbar::barrier's fixed policies (spin, yield, park), pthread, std, gomp, omp")
    us: float = column("a turn of it, computing included: mean over the run, median over launches")
    auto: float | None = column("tollbar::barrier: its turn over that of the best")
    auto_low: float | None = column("lower end of its 95 % interval; empty with too few launches", detail=True)
    auto_high: float | None = column("upper end of it", detail=True)
    group: float | None = column("a group without a named plan, nothing tuned: likewise, as all that follow")
    yields: float | None = column("tollbar::barrier with TOLLBAR_WAIT=yield")
    parks: float | None = column("tollbar::barrier with TOLLBAR_WAIT=park")
    pthread: float | None = column("pthread_barrier")
    std: float | None = column("std::barrier")
    gomp: float | None = column("libgomp")
    omp: float | None = column("libomp")
    others: str | None = column("what else was asked for")
    spins: float | None = column(
        "tollbar::barrier with TOLLBAR_WAIT=spin, if every thread has a processor", detail=True
    )
    tuned: float | None = column("a group as tuned here, where that is another plan", detail=True)
    tuned_over_group: float | None = column("that over the untuned group", detail=True)
    intervals: str | None = column(
        "95 % interval of each ratio, or n = 3, no interval, where its launches are too few", detail=True
    )
    launches: int = column("processes that measured the best", detail=True)


_COLUMNS = {
    "auto": "tollbar::barrier",
    "group": "group",
    "yields": "tollbar::barrier (yield)",
    "parks": "tollbar::barrier (park)",
    "pthread": "pthread_barrier",
    "std": "std::barrier",
    "gomp": "libgomp",
    "omp": "libomp",
    "spins": "tollbar::barrier (spin)",
    "tuned": "tuned group",
}
_SHORT = {label: name.removesuffix("s") if name[-1] == "s" else name for name, label in _COLUMNS.items()}


def kinds(text: str) -> tuple[str, ...]:
    """The value of --beside."""
    from tollbar.campaigns.neighbours import NEIGHBOURS

    names = arguments.listed(arguments.one_of((*NEIGHBOURS, "all")))(text)
    return tuple(NEIGHBOURS) if "all" in names else names


def table(folder: Path, failed: bool) -> Table:
    """The cells of a stored run, and a line for each kind of neighbours."""
    from tollbar.data import beside, samples

    there = beside.gather(samples.read([folder]))
    rows = [_row(cell, measured) for cell, measured in there.items()]
    notes = [*summary(there), f"every sample is in {folder}"]
    return Table(rows, Beside, failed=failed, notes=notes, digits=3)


def _row(cell: Situation, measured: Measurements) -> Beside:
    from tollbar.data import beside
    from tollbar.report import tables

    best = beside.best(measured)
    known = {label: beside.over_best(measured, label) for label in measured.labels(beside.TURN)}
    over = {label: ratio for label, ratio in known.items() if ratio}
    ratios = {label: ratio.value for label, ratio in over.items()}
    auto, tuned = over.get(beside.AUTO), beside.ratio(measured, beside.TUNED, beside.GROUP)
    others = [
        f"{label} {ratio:.3g}" for label, ratio in ratios.items() if label not in _COLUMNS.values() and label != best
    ]
    of_columns = {label: name for name, label in _COLUMNS.items()}
    named = {of_columns.get(label, label): ratio for label, ratio in over.items()}
    named |= {"tuned_over_group": tuned} if tuned else {}
    median = measured.median(best, beside.TURN)
    assert median, "the best was measured"
    return Beside(
        beside=beside.NEIGHBOURS.get(cell.neighbours, cell.neighbours),
        ranks=cell.ranks,
        free=cell.placement == "free",
        work=cell.computing.replace("~0.5", "~"),
        best=_SHORT.get(best, best),
        us=median.value / 1e3,
        others=", ".join(others) or None,
        tuned_over_group=tuned.value if tuned else None,
        auto_low=auto.low if auto else None,
        auto_high=auto.high if auto else None,
        intervals="; ".join(f"{name} {tables.interval_text(ratio)}" for name, ratio in named.items()) or None,
        launches=median.count,
        **{name: ratios.get(label) for name, label in _COLUMNS.items()},
    )


def summary(there: Mapping[Situation, Measurements]) -> Iterator[str]:
    """For each kind of neighbours the cells in which what does not have to be told how to wait is far from the best."""
    from tollbar.data import beside

    for neighbours, some in beside.by_neighbours(there).items():
        word = beside.NEIGHBOURS.get(neighbours, neighbours)
        for name, label in (("auto", beside.AUTO), ("group", beside.GROUP)):
            if count := beside.count(some, label):
                yield f"{word}: {name} over {beside.AS_GOOD:g} times the best: {_summary(count)}"
    if count := beside.count(there, beside.TUNED, beside.GROUP):
        yield f"tuned group over {beside.AS_GOOD:g} times the untuned one: {_summary(count)}"


def _summary(count: Count) -> str:
    from tollbar.data.statistics import FEWEST

    few = "" if count.launches >= FEWEST else f"; n = {count.launches}, no interval"
    return f"certainly in {count.certain}, possibly in {count.possible} of {count.situations} cells{few}"

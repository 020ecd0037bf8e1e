# SPDX-License-Identifier: Apache-2.0
"""tollbar bench company: every way to wait, whoever else wants the processors; a row a cell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.data.cells import Cell, Here, Spread


@dataclass(frozen=True)
class InCompany:
    """One cell: the best way to wait there, and how many times as long everybody takes."""

    company: str = column(
        "who else wants the processors: alone; one or two endless loops in the same session; one in another "
        "session, or in another cgroup; nobody, under a quota of 1.5 CPUs"
    )
    ranks: int = column("how many threads")
    free: bool = column("whether they may move; else pinned to processors")
    work: str = column("microseconds of computing between barriers; with ~ varied by half")
    best: str = column(
        "the fastest of tollbar::barrier's fixed policies (spin, yield, park), pthread, std, gomp, omp"
    )
    us: float = column("a turn of it, computing included: mean over the run, median over launches")
    auto: float | None = column("tollbar::barrier: its turn over that of the best")
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


def companies(text: str) -> tuple[str, ...]:
    """The value of --company."""
    from tollbar.campaigns.company import COMPANIES

    for part in text.split(","):
        if part not in COMPANIES:
            raise argparse.ArgumentTypeError(f"'{part}' is not one of {', '.join(COMPANIES)}")
    return tuple(dict.fromkeys(text.split(",")))


def loads(text: str) -> tuple[str, ...]:
    """The value of --between."""
    for part in text.split(","):
        try:
            float(part.partition("~")[0])
            tollbar.parse_workload(part)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"'{part}' is not US or US~SHARE: {error}") from None
    return tuple(dict.fromkeys(text.split(",")))


def table(folder: Path, failed: bool) -> Table:
    """The cells of a stored run, and a line for each company."""
    from tollbar.data import cells, samples

    there = cells.gather(samples.read([folder]))
    rows = [_row(cell, here) for cell, here in there.items()]
    notes = [*summary(there), f"every sample is in {folder}"]
    return Table(rows, InCompany, failed=failed, notes=notes, digits=3)


def _row(cell: Cell, here: Here) -> InCompany:
    from tollbar.data import cells

    known = {name: here.ratio(label) for name, label in _COLUMNS.items()}
    others = [label for label in here.turns if label not in _COLUMNS.values() and label != here.best]
    ratios = [f"{label} {here.ratio(label):.3g}" for label in others]
    return InCompany(
        company=cells.COMPANIES.get(cell.company, cell.company),
        ranks=cell.ranks,
        free=cell.placement == "free",
        work=cell.workload.replace("~0.5", "~"),
        best=_SHORT.get(here.best, here.best),
        us=here.median(here.best) / 1e3,
        others=", ".join(ratios) or None,
        tuned_over_group=here.ratio(cells.TUNED, cells.GROUP),
        launches=len(here.turns[here.best]),
        **known,
    )


def summary(there: Mapping[Cell, Here]) -> Iterator[str]:
    """For each company the median and the worst of what does not have to be told how to wait."""
    from tollbar.data import cells

    for company, some in cells.by_company(there).items():
        word = cells.COMPANIES.get(company, company)
        for name, label in (("auto", cells.AUTO), ("group", cells.GROUP)):
            if found := cells.spread(some, label):
                yield f"{word}: {name} over the best: {_told(found)}"
    if found := cells.spread(there, cells.TUNED, cells.GROUP):
        yield f"tuned group over the untuned one: {_told(found)}"


def _told(found: Spread) -> str:
    from tollbar.data import cells

    worst = found.worst
    where = f"{worst.ranks} {worst.placement}, {worst.workload} us"
    return (
        f"median {found.median:.3g}, worst {found.ratios[worst]:.3g} ({where}), "
        f"{found.above} of {len(found.ratios)} cells above {cells.AS_GOOD:g}"
    )

# SPDX-License-Identifier: Apache-2.0
"""The cells of `tollbar bench company`: who else wants the processors, placement, computing, ranks.

for cell, here in cells.gather(found).items():
    here.best, here.ratio("tollbar::barrier")
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tollbar.data.samples import Samples

#: The companies as the programs tell them, in the order of tables, and a word for each.
COMPANIES = {
    "alone": "alone",
    "1 neighbour": "one",
    "2 neighbours": "two",
    "1 neighbour in another session": "session",
    "1 neighbour in another cgroup": "cgroup",
    "a quota of 1.5 CPUs": "quota",
}
AUTO, GROUP, TUNED = "tollbar::barrier", "group", "tuned group"
FIXED = ("tollbar::barrier (spin)", "tollbar::barrier (yield)", "tollbar::barrier (park)")
#: Where a way to wait is taken to be as good as the best one.
AS_GOOD = 1.25


class Cell(NamedTuple):
    """One combination."""

    company: str
    placement: str
    workload: str
    ranks: int

    @property
    def computes(self) -> bool:
        return self.workload.partition("~")[0] != "0"

    @property
    def place(self) -> str:
        """As a part of a sentence that tells the company."""
        work = f"{self.work} between" if self.computes else "nothing between"
        return f"{self.ranks} threads {self.placement}, {work}"

    @property
    def work(self) -> str:
        """What a thread computes before each barrier."""
        us, _, varied = self.workload.partition("~")
        return f"{us} µs{f' ± {float(varied):.0%}'.replace('%', ' %') if varied else ''}"

    @property
    def text(self) -> str:
        """As a part of a sentence."""
        return f"{self.place}, {self.company}"


@dataclass(frozen=True)
class Here:
    """What was measured in one cell: label -> launch -> nanoseconds of a turn, the median over its rounds."""

    turns: Mapping[str, Mapping[Hashable, float]]
    peers: Sequence[str]

    @cached_property
    def best(self) -> str:
        """The fastest fixed policy or peer; of all there are, if there is none of those."""
        rivals = [label for label in self.turns if label in FIXED or label in self.peers]
        return min(rivals or self.turns, key=self.median)

    def median(self, label: str) -> float:
        return statistics.median(self.turns[label].values())

    def ratio(self, of: str, to: str | None = None) -> float | None:
        """A turn over that of another one, or of the best: median over launches."""
        found = self.ratios(of, to)
        return statistics.median(found) if found else None

    def ratios(self, of: str, to: str | None = None) -> list[float]:
        """One a launch: those with one number followed each other. None where either was not measured."""
        one, other = self.turns.get(of), self.turns.get(to or self.best)
        if not one or not other:
            return []
        together = one.keys() & other.keys()
        return [one[each] / other[each] for each in together] or [
            self.median(of) / self.median(to or self.best)
        ]


@dataclass(frozen=True)
class Spread:
    """The ratios of one way to wait in the cells that have it; there is at least one."""

    ratios: Mapping[Cell, float]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios.values())

    @property
    def worst(self) -> Cell:
        return max(self.ratios, key=self.ratios.__getitem__)

    @property
    def above(self) -> int:
        """In how many cells it is not as good as the best."""
        return sum(each > AS_GOOD for each in self.ratios.values())


def spread(there: Mapping[Cell, Here], of: str, to: str | None = None) -> Spread | None:
    """Its turn over that of another one, or of each cell's best; None where no cell has both."""
    ratios = {cell: ratio for cell, here in there.items() if (ratio := here.ratio(of, to))}
    return Spread(ratios) if ratios else None


def by_company(there: Mapping[Cell, Here]) -> dict[str, dict[Cell, Here]]:
    """The cells of each company that was met."""
    met: dict[str, dict[Cell, Here]] = {}
    for cell, here in there.items():
        met.setdefault(cell.company, {})[cell] = here
    return met


def gather(found: Samples) -> dict[Cell, Here]:
    """Every cell of these runs, in order; nothing where there is none."""
    rows = found.of("turn_ns").select(
        "company", "placement", "workload", "ranks", "candidate", "kind", "run", "launch", "value"
    )
    met: dict[Cell, dict[str, dict[Hashable, list[float]]]] = {}
    peers: dict[str, None] = {}
    for company, placement, workload, ranks, label, kind, run, launch, value in rows.iter_rows():
        of_cell = met.setdefault(Cell(company, placement, workload, ranks), {})
        of_cell.setdefault(label, {}).setdefault((run, launch), []).append(value)
        if kind == "peer":
            peers[label] = None
    return {
        cell: Here(
            {
                label: {launch: statistics.median(values) for launch, values in launches.items()}
                for label, launches in met[cell].items()
            },
            tuple(peers),
        )
        for cell in sorted(met, key=_order)
    }


def _order(cell: Cell) -> tuple[int, str, float, str, int]:
    companies = list(COMPANIES)
    place = companies.index(cell.company) if cell.company in companies else len(companies)
    return place, cell.placement, float(cell.workload.partition("~")[0]), cell.workload, cell.ranks

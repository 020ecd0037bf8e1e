# SPDX-License-Identifier: Apache-2.0
"""Situations of `tollbar bench threads --beside`: the best way to wait in each, and how far others are.

for situation, measured in beside.gather(samples).items():
    beside.best(measured), beside.ratio(measured, "tollbar::barrier")
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tollbar.data import places
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Ratio

#: Neighbours that want the processors, as the programs say it, in the order of tables, and a word for each.
NEIGHBOURS = {
    "alone": "alone",
    "1 neighbour": "one",
    "2 neighbours": "two",
    "1 neighbour in another session": "session",
    "1 neighbour in another cgroup": "cgroup",
    "a quota of 1.5 CPUs": "quota",
}
AUTO, GROUP, TUNED = "tollbar::barrier", "group", "tuned group"
FIXED = ("tollbar::barrier (spin)", "tollbar::barrier (yield)", "tollbar::barrier (park)")
#: A way to wait with such a ratio to the best counts as good.
AS_GOOD = 1.25
TURN = "turn_ns"


@dataclass(frozen=True)
class Spread:
    """The ratios of one way to wait in the situations that have it; there is at least one."""

    ratios: Mapping[Situation, float]

    @property
    def median(self) -> float:
        return statistics.median(self.ratios.values())

    @property
    def worst(self) -> Situation:
        return max(self.ratios, key=self.ratios.__getitem__)

    @property
    def above(self) -> int:
        """The number of situations in which it is not as good as the best."""
        return sum(ratio > AS_GOOD for ratio in self.ratios.values())


def gather(samples: Samples) -> dict[Situation, Measurements]:
    """Every situation of these runs, in order; nothing where there is none."""
    turns = dataclasses.replace(samples, records=samples.records.filter(pl.col("metric") == TURN))
    there = places.gather(turns, places.BESIDE)
    return dict(sorted(there.items(), key=lambda pair: _order(pair[0])))


def _order(place: Situation) -> tuple[int, str, float, str, int]:
    known = list(NEIGHBOURS)
    first = known.index(place.neighbours) if place.neighbours in known else len(known)
    return first, place.placement, place.compute_us, place.computing, place.ranks


def best(measured: Measurements) -> str:
    """The fastest fixed policy or peer; of all there are, if there is none of those."""
    labels = {candidate.label: candidate.kind for candidate in measured.candidates}
    rivals = [label for label, kind in labels.items() if label in FIXED or kind == "peer"]
    return min(rivals or labels, key=lambda label: turn_ns(measured, label))


def turn_ns(measured: Measurements, label: str) -> float:
    """The median of its turns, which was measured."""
    median = measured.median(label, TURN)
    assert median, f"{label} was not measured"
    return median.value


def ratio(measured: Measurements, of: str, to: str | None = None) -> float | None:
    """A turn over that of another one, or of the best; without a launch that has both, of the medians."""
    to = to or best(measured)
    if not measured.median(of, TURN) or not measured.median(to, TURN):
        return None
    paired = measured.ratio(of, to, TURN)
    return paired.value if paired else turn_ns(measured, of) / turn_ns(measured, to)


def ratios(there: Mapping[Situation, Measurements], of: str, to: str, placement: str) -> dict[int, Ratio]:
    """The turn of one over that of another beside a busy neighbour, where threads do nothing else, by their number."""
    by_ranks = {
        place.ranks: measured.ratio(of, to, TURN)
        for place, measured in there.items()
        if (place.neighbours, place.placement, place.computing) == ("1 neighbour", placement, "0")
    }
    return {ranks: known for ranks, known in by_ranks.items() if known}


def spread(there: Mapping[Situation, Measurements], of: str, to: str | None = None) -> Spread | None:
    """Its turn over that of another one, or of each situation's best; None where nothing has both."""
    ratios = {place: known for place, measured in there.items() if (known := ratio(measured, of, to))}
    return Spread(ratios) if ratios else None


def by_neighbours(there: Mapping[Situation, Measurements]) -> dict[str, dict[Situation, Measurements]]:
    """The situations beside each kind of neighbours that was met."""
    met: dict[str, dict[Situation, Measurements]] = {}
    for place, measured in there.items():
        met.setdefault(place.neighbours, {})[place] = measured
    return met

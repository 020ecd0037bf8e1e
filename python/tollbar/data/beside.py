# SPDX-License-Identifier: Apache-2.0
"""Situations of `tollbar bench threads --beside`: the best way to wait in each, and how far others are.

for situation, measured in beside.gather(samples).items():
    beside.best(measured), beside.ratio(measured, "tollbar::barrier")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tollbar.data import places
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval, Ratio, greatest

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
TURN = "period_ns"
#: The kinds of runs that have such situations.
_KINDS = ("neighbours", "tune")


@dataclass(frozen=True)
class Count:
    """Numbers of situations in which a ratio is above a limit for certain, or may be, by 95 % intervals."""

    certain: int
    possible: int
    situations: int
    launches: int  #: the fewest behind a ratio

    @property
    def text(self) -> str:
        return f"{self.certain} / {self.possible} / {self.situations}"


def gather(samples: Samples) -> dict[Situation, Measurements]:
    """Every situation of these runs, in order; nothing where there is none."""
    turns = samples.records.filter(pl.col("metric") == TURN, pl.col("bench").is_in(_KINDS))
    there = places.gather(dataclasses.replace(samples, records=turns), places.BESIDE)
    return dict(sorted(there.items(), key=lambda pair: _order(pair[0])))


def _order(place: Situation) -> tuple[int, str, float, str, int]:
    known = list(NEIGHBOURS)
    first = known.index(place.neighbours) if place.neighbours in known else len(known)
    return first, place.placement, place.compute_us, place.computing, place.ranks


def best(measured: Measurements) -> str:
    """The rival with the shortest median turn."""
    return min(rivals(measured), key=lambda label: turn_ns(measured, label))


def rivals(measured: Measurements) -> list[str]:
    """The fixed policies and peers; all there are, if there is none of those."""
    labels = {candidate.label: candidate.kind for candidate in measured.candidates}
    return [label for label, kind in labels.items() if label in FIXED or kind == "peer"] or list(labels)


def turn_ns(measured: Measurements, label: str) -> float:
    """The median of its turns, which was measured."""
    median = measured.median(label, TURN)
    assert median, f"{label} was not measured"
    return median.value


def ratio(measured: Measurements, of: str, to: str) -> Ratio | None:
    """A turn over that of another one; None where no launch has both."""
    return measured.ratio(of, to, TURN)


def over_best(measured: Measurements, of: str) -> Interval | None:
    """A turn over that of the best rival; None where no launch has it and them."""
    known = [ratio for rival in rivals(measured) if (ratio := measured.ratio(of, rival, TURN))]
    return greatest(known) if known else None


def ratios(there: Mapping[Situation, Measurements], of: str, to: str, placement: str) -> dict[int, Ratio]:
    """The turn of one over that of another beside a busy neighbour, where threads do nothing else, by their number."""
    by_ranks = {
        place.ranks: measured.ratio(of, to, TURN)
        for place, measured in there.items()
        if (place.neighbours, place.placement, place.computing) == ("1 neighbour", placement, "0")
    }
    return {ranks: known for ranks, known in by_ranks.items() if known}


def count(
    there: Mapping[Situation, Measurements], of: str, to: str | None = None, limit: float = AS_GOOD
) -> Count | None:
    """The situations in which its turn is above so many times that of another one, or of each situation's best rival.

    A situation without an interval may be above. None where nothing has both.
    """
    known = [
        interval
        for measured in there.values()
        if (interval := ratio(measured, of, to) if to else over_best(measured, of))
    ]
    if not known:
        return None
    certain = sum(interval.low is not None and interval.low > limit for interval in known)
    possible = sum(interval.high is None or interval.high > limit for interval in known)
    return Count(certain, possible, len(known), min(interval.count for interval in known))


def by_neighbours(there: Mapping[Situation, Measurements]) -> dict[str, dict[Situation, Measurements]]:
    """The situations beside each kind of neighbours that was met."""
    met: dict[str, dict[Situation, Measurements]] = {}
    for place, measured in there.items():
        met.setdefault(place.neighbours, {})[place] = measured
    return met

# SPDX-License-Identifier: Apache-2.0
"""Cells: situations of threads beside neighbours, on fewer CPUs or that compute; the best way to wait in each, and how
far others are.

for situation, measured in cells.gather(samples).items():
    cells.best(measured), cells.ratio(measured, "tollbar::barrier")
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from tollbar.data import neighbours, places
from tollbar.data.neighbours import NEIGHBOURS
from tollbar.data.places import Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval, Ratio, greatest

AUTO, GROUP, TUNED = "tollbar::barrier", "group", "tuned group"
FIXED = ("tollbar::barrier (spin)", "tollbar::barrier (yield)", "tollbar::barrier (park)")
#: A way to wait with such a ratio to the best counts as good.
AS_GOOD = 1.25
TURN = "period_ns"
_BUSY = NEIGHBOURS["neighbour"].stored


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


def gather(samples: Samples, *metrics: str) -> dict[Situation, Measurements]:
    """Every situation of these runs, in order, with its turns or these metrics; nothing where there is none."""
    is_cell = (
        pl.col("metric").is_in(metrics or [TURN]) & (pl.col("bench") == "threads") & (pl.col("apart") == "launcher")
    )
    turns = samples.records.filter(is_cell, ~places.IS_PLAIN)
    there = places.gather(dataclasses.replace(samples, records=turns), places.CELL)
    return dict(sorted(there.items(), key=lambda pair: _order(pair[0])))


def _order(place: Situation) -> tuple[int, int, str, float, str, int]:
    first = neighbours.place(place.neighbours)
    return first, -place.kept_to, place.placement, place.compute_us, place.computing, place.ranks


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
        if (place.neighbours, place.kept_to, place.placement, place.computing) == (_BUSY, 0, placement, "0")
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
    """The situations among those who want the same CPUs, by these in words."""
    met: dict[str, dict[Situation, Measurements]] = {}
    for place, measured in there.items():
        met.setdefault(place.among, {})[place] = measured
    return met

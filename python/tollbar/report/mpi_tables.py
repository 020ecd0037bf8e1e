# SPDX-License-Identifier: Apache-2.0
"""A table about barriers between processes: the MPI's own, tollbar's behind each door, the fastest plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data import places
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.statistics import Interval, Ratio


@dataclass(frozen=True)
class Row:
    """One place. Times are loop periods but for latency and skew, which are those of `pick`."""

    place: Situation
    own: Interval | None
    component: Interval | None
    preload: Interval | None
    ratio: Ratio | None  #: how many times as long the own one takes as the first door, or as `pick`
    pick: Candidate | None  #: of what is not behind MPI_Barrier, that with the shortest latency
    latency: Interval | None
    skew: Interval | None
    period: Interval | None


def rows(there: Mapping[Situation, Measurements]) -> list[Row]:
    """A row for each place."""
    return [_row(place, measured) for place, measured in there.items()]


def _row(place: Situation, measured: Measurements) -> Row:
    own, pick = places.own_of(measured), _fastest(measured)
    behind = {door: measured.median(f"MPI_Barrier [{door}]", "period_ns") for door in places.DOORS}
    first = next((f"MPI_Barrier [{door}]" for door, period in behind.items() if period), None)
    ours = first or pick
    return Row(
        place,
        own=measured.median(own, "period_ns"),
        component=behind["component"],
        preload=behind["preload"],
        ratio=measured.ratio(own, ours) if own and ours else None,
        pick=pick,
        latency=measured.median(pick, "latency_ns"),
        skew=measured.median(pick, "skew_ns"),
        period=measured.median(pick, "period_ns"),
    )


def _fastest(measured: Measurements) -> Candidate | None:
    plans = [each for each in measured.candidates if each.kind not in ("mpi", "door", "peer")]
    times = {each: ns for each in plans if (ns := measured.time_ns(each)) is not None}
    return min(times, key=times.__getitem__, default=None)

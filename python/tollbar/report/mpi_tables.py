# SPDX-License-Identifier: Apache-2.0
"""A table about barriers between processes: the MPI's own, tollbar's behind each door, the fastest plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tollbar.data import places
from tollbar.data.places import Candidate, Here, Place
from tollbar.data.statistics import Interval, Ratio
from tollbar.report import tables
from tollbar.report.plots import time_text
from tollbar.report.target import Target


@dataclass(frozen=True)
class Row:
    """One place. Times are loop periods but for latency and skew, which are those of `pick`."""

    place: Place
    own: Interval | None
    component: Interval | None
    preload: Interval | None
    ratio: Ratio | None  #: how many times as long the own one takes as the first door, or as `pick`
    pick: Candidate | None  #: of what is not behind MPI_Barrier, that with the shortest latency
    latency: Interval | None
    skew: Interval | None
    period: Interval | None


def rows(there: Mapping[Place, Here]) -> list[Row]:
    """A row for each place."""
    return [_row(place, here) for place, here in there.items()]


def _row(place: Place, here: Here) -> Row:
    own, pick = places.own_of(here), _fastest(here)
    doors = [f"MPI_Barrier [{door}]" for door in places.DOORS]
    behind = {door: here.median(door, "period_ns") for door in doors}
    ours = next((door for door, period in behind.items() if period), pick)
    return Row(
        place,
        here.median(own, "period_ns"),
        *behind.values(),
        here.ratio(own, ours) if own and ours else None,
        pick,
        *(here.median(pick, metric) for metric in ("latency_ns", "skew_ns", "period_ns")),
    )


def _fastest(here: Here) -> Candidate | None:
    plans = [each for each in here.candidates if each.kind not in ("mpi", "door", "peer")]
    times = {each: ns for each in plans if (ns := here.time_ns(each)) is not None}
    return min(times, key=times.__getitem__, default=None)


#: What `everything` gives, times in nanoseconds; medians over launches with their 95 % intervals.


def markdown(found: Sequence[Row]) -> str:
    """The rows as a Markdown table, for a page of documentation; without the columns that are empty."""
    names = ("MPI", "where", "ranks", "threads", "MPI's own", "component", "preload", "own / ours",
             "95 % interval", "fastest plan", "latency", "exit skew", "period")  # fmt: skip
    return tables.markdown_table(names, map(_cells, found))


def targets_markdown(targets: Iterable[Target]) -> str:
    """What was wanted and what was reached, likewise."""
    names = ("case", "ranks", "MPI", "placement", "barrier", "reached", "95 % interval", "wanted", "verdict")
    return tables.markdown_table(names, map(_target_cells, targets))


def _target_cells(row: Target) -> list[str]:
    interval = "" if row.low is None else f"{tables.times_text(row.low)} to {tables.times_text(row.high)}"
    reached = [row.candidate or "", tables.times_text(row.value), interval, row.target, row.verdict]
    return [row.case, str(row.ranks or ""), row.mpi or "", row.placement or "", *reached]


def _cells(row: Row) -> list[str]:
    def times(*some: Interval | None) -> list[str]:
        return [time_text(found.value) if found else "" for found in some]

    return [
        row.place.over,
        row.place.layout,
        str(row.place.ranks),
        str(row.place.threads),
        *times(row.own, row.component, row.preload),
        tables.times_text(row.ratio.value if row.ratio else None),
        tables.interval_text(row.ratio),
        row.pick.label if row.pick else "",
        *times(row.latency, row.skew, row.period),
    ]

# SPDX-License-Identifier: Apache-2.0
"""A table about barriers between processes: the MPI's own, tollbar's behind each door, the fastest plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tollbar.data import comparison, mpi_places
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.mpi_places import Place, Places
from tollbar.data.statistics import Interval, Ratio
from tollbar.report import tables
from tollbar.report.mpi_curves import time_ns
from tollbar.report.mpi_targets import MpiTarget
from tollbar.report.plots import time_text


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


def rows(places: Places) -> list[Row]:
    """A row for each place."""
    return [_row(place, each) for place, each in places.items()]


def _row(place: Place, each: Comparison) -> Row:
    own, doors, pick = mpi_places.own_of(each), mpi_places.door_of(each), _fastest(each)
    ours = next(iter(doors.values()), pick)
    return Row(
        place,
        _of(each, own, "period"),
        *(_of(each, doors.get(door), "period") for door in mpi_places.DOORS),
        _ratio(each, own, ours) if own and ours else None,
        pick,
        *(_of(each, pick, name) for name in ("latency", "skew", "period")),
    )  # fmt: skip


def _of(each: Comparison, candidate: Candidate | None, name: str) -> Interval | None:
    return comparison.summarise(getattr(each.candidates[candidate], name)) if candidate else None


def _fastest(each: Comparison) -> Candidate | None:
    times = {
        candidate: ns
        for candidate in each.candidates
        if candidate.kind not in ("mpi", "door", "peer") and (ns := time_ns(each, candidate)) is not None
    }
    return min(times, key=times.__getitem__, default=None)


def _ratio(each: Comparison, of: Candidate, to: Candidate) -> Ratio | None:
    try:
        return each.ratio(of, to)
    except ValueError:  # never measured in one launch
        return None


#: What `everything` gives, times in nanoseconds; medians over launches with their 95 % intervals.
COLUMNS = (
    "mpi", "where", "ranks", "threads", "barrier", "wait", "kind", "launches",
    *(f"{name}{end}_ns" for name in comparison.TIMES for end in ("", "_low", "_high")),
)  # fmt: skip


def everything(places: Places) -> list[list[object]]:
    """A line for each barrier in each place."""
    lines = []
    for place, each in places.items():
        for candidate, measured in each.candidates.items():
            found = [comparison.summarise(getattr(measured, name)) for name in comparison.TIMES]
            times = [_digits(value) for one in found for value in _three(one)]
            launches = max((one.count for one in found if one), default=0)
            where = [place.mpi, place.layout, place.ranks, place.threads]
            lines.append([*where, candidate.name, candidate.wait, candidate.kind, launches, *times])
    return lines


def _three(found: Interval | None) -> tuple[float | None, ...]:
    return (found.value, found.low, found.high) if found else (None, None, None)


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def markdown(found: Sequence[Row]) -> str:
    """The rows as a Markdown table, for a page of documentation; without the columns that are empty."""
    names = ("MPI", "where", "ranks", "threads", "MPI's own", "component", "preload", "own / ours",
             "95 % interval", "fastest plan", "latency", "exit skew", "period")  # fmt: skip
    return markdown_table(names, map(_cells, found))


def targets_markdown(targets: Iterable[MpiTarget]) -> str:
    """What was wanted and what was reached, likewise."""
    names = ("case", "ranks", "MPI", "placement", "barrier", "reached", "95 % interval", "wanted", "verdict")
    return markdown_table(names, map(_target_cells, targets))


def _target_cells(row: MpiTarget) -> list[str]:
    interval = "" if row.low is None else f"{tables.times_text(row.low)} to {tables.times_text(row.high)}"
    reached = [row.candidate or "", tables.times_text(row.value), interval, row.target, row.verdict]
    return [row.case, str(row.ranks or ""), row.mpi or "", row.placement or "", *reached]


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The rows under those names, without the columns that are empty."""
    columns = zip(names, *rows, strict=True)
    kept = [(name, "---", *cells) for name, *cells in columns if any(cells)]
    return "".join(_line(cells) for cells in zip(*kept, strict=True))


def _cells(row: Row) -> list[str]:
    def time(found: Interval | None) -> str:
        return time_text(found.value) if found else ""

    ratio = tables.times_text(row.ratio.value if row.ratio else None)
    where = [row.place.mpi, row.place.layout, str(row.place.ranks), str(row.place.threads)]
    periods = [*map(time, (row.own, row.component, row.preload)), ratio, tables.interval_text(row.ratio)]
    return [
        *where,
        *periods,
        row.pick.label if row.pick else "",
        *map(time, (row.latency, row.skew, row.period)),
    ]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"

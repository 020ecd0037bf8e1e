# SPDX-License-Identifier: Apache-2.0
"""A table about barriers between processes: what is fastest where, and how much slower the MPI's own is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tollbar import comparison, tables
from tollbar.comparison import Candidate, Comparison
from tollbar.mpi_curves import time_ns
from tollbar.mpi_places import Place, Places
from tollbar.plots import time_text
from tollbar.statistics import Interval, Ratio


@dataclass(frozen=True)
class Row:
    """One place: tollbar's barrier with the shortest latency there, and the MPI's own one beside it."""

    place: Place
    pick: Candidate
    latency: Interval | None
    skew: Interval | None
    period: Interval | None
    peer: Candidate | None
    peer_period: Interval | None
    ratio: Ratio | None  #: how many times as long the peer's loop takes


def rows(places: Places) -> list[Row]:
    """A row for each place where a barrier of tollbar's was measured."""
    return [_row(place, each, pick) for place, each in places.items() if (pick := _fastest(each)) is not None]


def _row(place: Place, each: Comparison, pick: Candidate) -> Row:
    measured = each.candidates[pick]
    peer = next((candidate for candidate in each.candidates if candidate.kind == "peer"), None)
    return Row(
        place, pick,
        *(comparison.summarise(getattr(measured, name)) for name in ("latency", "skew", "period")),
        peer,
        comparison.summarise(each.candidates[peer].period) if peer else None,
        _ratio(each, peer, pick) if peer else None,
    )  # fmt: skip


def _fastest(each: Comparison) -> Candidate | None:
    times = {
        candidate: ns
        for candidate in each.candidates
        if candidate.kind != "peer" and (ns := time_ns(each, candidate)) is not None
    }
    return min(times, key=times.__getitem__, default=None)


def _ratio(each: Comparison, of: Candidate, to: Candidate) -> Ratio | None:
    try:
        return each.ratio(of, to)
    except ValueError:  # never measured in one launch
        return None


def markdown(found: Sequence[Row]) -> str:
    """The rows as a Markdown table, for a page of documentation."""
    names = ("MPI", "hosts", "ranks", "threads", "fastest here", "latency", "exit skew", "period",
             "the MPI's own", "its period", "times ours", "95 % interval")  # fmt: skip
    return "".join(_line(cells) for cells in (names, ["---"] * len(names), *map(_cells, found)))


def _cells(row: Row) -> list[str]:
    def time(found: Interval | None) -> str:
        return time_text(found.value) if found else ""

    ratio = tables.times_text(row.ratio.value if row.ratio else None)
    ours = [row.pick.label, time(row.latency), time(row.skew), time(row.period)]
    theirs = [
        row.peer.label if row.peer else "",
        time(row.peer_period),
        ratio,
        tables.interval_text(row.ratio),
    ]
    return [*map(str, row.place), *ours, *theirs]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench udp` found, by the number of hosts: each barrier's time beside an MPI's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tollbar.data import comparison, mpi_places, statistics
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.records import Launch
from tollbar.data.statistics import Interval, Ratio


@dataclass(frozen=True)
class Row:
    """One barrier between so many hosts."""

    ranks: int
    candidate: Candidate
    period: Interval  #: nanoseconds; so are the others
    cpu: Interval | None  #: of all ranks together, for each barrier
    of_default: Ratio | None  #: the MPI's barrier as it comes takes so many times as long
    of_best: Ratio | None  #: likewise its best one here
    best: Candidate | None  #: which one that is


def gather(launches: Iterable[Launch]) -> dict[int, Comparison]:
    """The comparisons by the number of ranks, in order."""
    named = map(mpi_places.with_full_names, launches)
    return dict(sorted(comparison.gather(named, lambda launch: launch.environment.ranks).items()))


def rows(compared: Mapping[int, Comparison]) -> list[Row]:
    """By ranks, the fastest first."""
    return [row for ranks, each in compared.items() for row in _rows(ranks, each)]


def _rows(ranks: int, compared: Comparison) -> list[Row]:
    periods = {
        candidate: period
        for candidate, measured in compared.candidates.items()
        if (period := comparison.summarise(measured.period))
    }
    default = compared.find("MPI_Barrier")
    of_mpi = [candidate for candidate in periods if candidate.kind == "mpi"]
    best = min(of_mpi, key=lambda candidate: periods[candidate].value, default=None)

    def against(other: Candidate | None, candidate: Candidate) -> Ratio | None:
        if other not in periods or candidate.kind == "mpi":
            return None
        # Not in multiples of the floor: that is a cache line's way, and no datagram's.
        of, to = (compared.candidates[each].period for each in (other, candidate))
        return statistics.ratio_between(of, to)

    return [
        Row(
            ranks,
            candidate,
            periods[candidate],
            comparison.summarise(compared.candidates[candidate].cpu),
            against(default, candidate),
            against(best, candidate),
            best,
        )
        for candidate in sorted(periods, key=lambda each: periods[each].value)
    ]

# SPDX-License-Identifier: Apache-2.0
"""What `tollbar bench udp` found, by the number of hosts: each barrier's time beside an MPI's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data.places import Candidate, Here
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


def rows(there: Mapping[int, Here]) -> list[Row]:
    """By ranks, the fastest first."""
    return [row for ranks, here in there.items() for row in _rows(ranks, here)]


def _rows(ranks: int, here: Here) -> list[Row]:
    timed = [(period, each) for each in here.candidates if (period := here.median(each, "period_ns"))]
    timed.sort(key=lambda found: found[0].value)
    default = here.find("MPI_Barrier")
    best = next((each for _, each in timed if each.kind == "mpi"), None)

    def against(other: Candidate | None, candidate: Candidate) -> Ratio | None:
        return here.ratio(other, candidate) if other and candidate.kind != "mpi" else None

    return [
        Row(
            ranks,
            each,
            period,
            here.median(each, "cpu_ns"),
            against(default, each),
            against(best, each),
            best,
        )
        for period, each in timed
    ]

# SPDX-License-Identifier: Apache-2.0
"""Launches of `tollbar bench shmem` by the number of PEs: post and wait, the exchange, and more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tollbar.data import comparison, statistics
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.records import Launch
from tollbar.data.shmem_records import Away, Exchange, Overlap
from tollbar.data.statistics import Interval, Ratio

_Series = dict[int, dict[int, float]]
What = Literal["period", "exchange", "away", "free"]


@dataclass
class Measured:
    """Everything about so many PEs. Each series is launch -> round -> value, by the label of a barrier."""

    pes: int
    library: str  #: whose OpenSHMEM
    comparison: Comparison
    period: dict[str, _Series] = field(default_factory=dict)  #: post and wait back to back
    exchange: dict[str, _Series] = field(default_factory=dict)  #: an iteration of the exchange
    away: dict[str, _Series] = field(default_factory=dict)  #: until the others were released
    free: dict[str, _Series] = field(
        default_factory=dict
    )  #: share of an open episode outside of post and test

    def interval(self, what: What, label: str, factor: float = 1.0) -> Interval | None:
        """The median over launches of what was measured of that barrier; None where it was not."""
        series = getattr(self, what).get(label)
        if not series:
            return None
        values = statistics.launch_medians(series).values()
        return statistics.median_interval([value * factor for value in values])

    def ratio(self, what: What, of: str, to: str) -> Ratio | None:
        """How many times as long one takes as the other, paired by round of one process."""
        one, other = getattr(self, what).get(of), getattr(self, what).get(to)
        try:
            return statistics.ratio(one, other) if one and other else None
        except ValueError:  # never in one round
            return None


def gather(launches: Iterable[Launch]) -> dict[int, Measured]:
    """What was measured, fewest PEs first."""
    by_pes: dict[int, list[Launch]] = {}
    for launch in launches:
        by_pes.setdefault(launch.environment.ranks, []).append(launch)
    return {pes: _measured(pes, by_pes[pes]) for pes in sorted(by_pes)}


def _measured(pes: int, launches: list[Launch]) -> Measured:
    compared = comparison.gather(launches, lambda launch: launch.environment.ranks)[pes]
    library = str(launches[0].environment.facts.get("mpi") or "an OpenSHMEM")
    found = Measured(pes, library, compared)
    found.period = {each.label: measured.period for each, measured in compared.candidates.items()}
    for launch in launches:
        for record in launch.singles:
            match record:
                case Exchange():
                    _put(found.exchange, launch, record, record.elapsed_ns / record.iterations)
                case Away():
                    _put(found.away, launch, record, float(np.median(record.released_ns)))
                case Overlap():
                    free = 1 - np.asarray(record.inside_ns) / np.asarray(record.open_ns)
                    _put(found.free, launch, record, float(np.median(free)))
    return found


def _put(found: dict[str, _Series], launch: Launch, record: Exchange | Away | Overlap, value: float) -> None:
    label = Candidate(record.name, record.kind, record.wait).label
    found.setdefault(label, {}).setdefault(launch.group, {})[record.round] = value


def skipped(measured: Mapping[int, Measured]) -> dict[str, str]:
    """What could not be measured, and why."""
    return {name: why for each in measured.values() for (name, _), why in each.comparison.skipped.items()}

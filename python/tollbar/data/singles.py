# SPDX-License-Identifier: Apache-2.0
"""What is measured besides loops: processes apart, long waits, features that nobody uses, setting up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from tollbar.data import statistics
from tollbar.data.records import Idle, Late, Launch, Processes, SetUp, Single, Unused
from tollbar.data.statistics import Interval, Ratio

#: How processes are apart: all in one session, each in one of its own, each in a control group of its own.
TOGETHER = "one session"
APART = ("sessions", "cgroups")

_Series = dict[int, dict[int, float]]


@dataclass
class Singles:
    """Each series is launch -> round -> value, as those of a Comparison."""

    processes: dict[tuple[str, str], _Series] = field(default_factory=dict)  #: (name, apart) -> loop period
    idle: dict[str, _Series] = field(default_factory=dict)  #: name -> CPU time over the time waited
    unused: dict[str, _Series] = field(default_factory=dict)  #: name -> nanoseconds added to an episode
    set_up: dict[str, _Series] = field(default_factory=dict)  #: name -> nanoseconds a communicator takes
    waiting: dict[str, _Series] = field(default_factory=dict)  #: name -> share of a CPU that a waiter uses
    wake: dict[str, _Series] = field(default_factory=dict)  #: name -> last entry to last exit after it

    def add(self, launch: Launch) -> None:
        for record in launch.singles:
            for series, value in self._values(record):
                series.setdefault(launch.group, {})[record.round] = value

    def _values(self, record: Single) -> Iterator[tuple[_Series, float]]:
        match record:
            case Processes():
                yield (
                    self.processes.setdefault((record.name, record.apart), {}),
                    record.elapsed_ns / record.episodes,
                )
            case Idle():
                yield self.idle.setdefault(record.name, {}), record.cpu_ns / record.waited_ns
            case Unused():
                added = float(np.median(record.participant_ns) - np.median(record.bare_ns))
                yield self.unused.setdefault(record.name, {}), added
            case SetUp():
                yield self.set_up.setdefault(record.name, {}), float(np.median(record.set_up_ns))
            case Late():
                busiest = max(record.waiter_cpu_ns) / record.waited_ns
                yield self.waiting.setdefault(record.name, {}), busiest
                yield self.wake.setdefault(record.name, {}), record.wake_ns

    def apart(self, name: str, apart: str) -> Ratio | None:
        """How many times as long a loop takes when the processes are apart; paired by round."""
        one, other = self.processes.get((name, apart)), self.processes.get((name, TOGETHER))
        return statistics.ratio(one, other) if one and other else None

    def share(self, name: str) -> Interval | None:
        """CPU time of all waiters together over the time they waited."""
        return summarise(self.idle, name)

    def added_ns(self, name: str) -> Interval | None:
        """What unused features add to an episode, in nanoseconds."""
        return summarise(self.unused, name)


def summarise(found: Mapping[str, _Series], name: str) -> Interval | None:
    return statistics.summary(found[name]) if name in found else None

# SPDX-License-Identifier: Apache-2.0
"""What the programs that measure one thing found: processes apart, long waits, features that nobody uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tollbar import statistics
from tollbar.records import Idle, Launch, Processes, Unused
from tollbar.statistics import Interval, Ratio

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

    def add(self, launch: Launch) -> None:
        for record in launch.singles:
            match record:
                case Processes():
                    series = self.processes.setdefault((record.name, record.apart), {})
                    value = record.elapsed_ns / record.episodes
                case Idle():
                    series = self.idle.setdefault(record.name, {})
                    value = record.cpu_ns / record.waited_ns
                case Unused():
                    series = self.unused.setdefault(record.name, {})
                    value = float(np.median(record.participant_ns) - np.median(record.bare_ns))
            series.setdefault(launch.group, {})[record.round] = value

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

# SPDX-License-Identifier: Apache-2.0
"""The evidence of one situation's launches so far: whether more are needed, and of which barriers not.

evidence = Evidence("std::barrier", "tollbar::barrier", look=6)
evidence.add(launch)
if not evidence.narrow: ...
only = [name for name in names if name not in evidence.hopeless]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tollbar.data import statistics
from tollbar.data.schema import Launch
from tollbar.data.statistics import LEVEL, Ratio

#: A ratio is known well enough when the ends of its interval differ by less than this factor.
_NARROW = 2.0

#: The unit of a record's time.
_COUNTED = {"batch": "episodes", "turns": "turns"}


class Evidence:
    """The times of each barrier by launch and round, and what is certain of them.

    `today` is what users have, `ours` is what stands in for it; `look` launches come before each look at them.
    """

    def __init__(self, today: str, ours: str, look: int) -> None:
        self._pair = (today, ours)
        self._look = look
        self._times: dict[str, dict[int, dict[int, float]]] = {}
        self._launches = 0
        self._hopeless: set[str] = set()

    def add(self, launch: Launch) -> None:
        """Takes what one launch measured; nothing of one that lacks either of the pair, as a peer's own."""
        timed = [(record, unit) for kind, unit in _COUNTED.items() for record in launch.records.get(kind, ())]
        if not {_name(record) for record, _ in timed} >= set(self._pair):
            return
        for record, unit in timed:
            rounds = self._times.setdefault(_name(record), {}).setdefault(self._launches, {})
            rounds[record["round"]] = max(record["elapsed_ns"] / record[unit], 1e-3)
        self._launches += 1
        if self._launches % self._look == 0:
            self._hopeless |= self._eliminated(self._launches // self._look)

    @property
    def launches(self) -> int:
        """How many had both of the pair."""
        return self._launches

    @property
    def ratio(self) -> Ratio | None:
        """How many times as long today's takes, as it is printed if this look is the last; None before a launch."""
        if not self._launches:
            return None
        one, other = (self._times[name] for name in self._pair)
        return statistics.ratio(one, other, statistics.error([-(-self._launches // self._look)]))

    @property
    def narrow(self) -> bool:
        """Whether that is known well enough to be said, looked at after every `look` launches only.

        A rule that looks at a width, not at a difference, favours neither of the two (Chow and Robbins 1965).
        """
        ratio = None if self._launches % self._look else self.ratio
        if ratio is None or ratio.low is None or ratio.high is None:
            return False
        return ratio.high < _NARROW * ratio.low

    @property
    def hopeless(self) -> frozenset[str]:
        """The barriers that are certainly slower than the fastest and than today's.

        Successive elimination (Even-Dar, Mannor, Mansour 2006): the level is shared by all barriers and all
        looks, look k having 1 / (k (k + 1)) of it, so that in 95 of 100 situations no barrier is dropped that
        is as fast as either. Looks are those of `narrow`. None of the pair is dropped.
        """
        return frozenset(self._hopeless)

    def _eliminated(self, look: int) -> set[str]:
        level = (1 - LEVEL) / (look * (look + 1)) / len(self._times)
        still = [name for name in self._times if name not in self._hopeless]
        fastest = min(still, key=lambda name: statistics.summary(self._times[name]).value)
        return {
            name
            for name in still
            if name not in (*self._pair, fastest)
            and all(_slower(self._over(name, to), level) for to in (fastest, self._pair[0]))
        }

    def _over(self, of: str, to: str) -> Ratio | None:
        one, other = self._times[of], self._times[to]
        return statistics.ratio(one, other) if one.keys() & other.keys() else None


def _slower(ratio: Ratio | None, level: float) -> bool:
    return ratio is not None and ratio.value > 1 and ratio.p_value <= level


def _name(record: Mapping[str, Any]) -> str:
    """The name by which a program is asked for that barrier."""
    plain = record.get("kind") not in ("plan", "turnstile", "combination")
    return record["name"] if plain else f"{record['name']}+{record.get('wait') or 'auto'}"

# SPDX-License-Identifier: Apache-2.0
"""One figure that tollbar wants to reach, and the verdict on what was reached."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tollbar.statistics import Interval


def column(meaning: str) -> Any:
    """A field with the meaning that `tollbar bench --help` shows."""
    return field(metadata={"meaning": meaning})


@dataclass(frozen=True)
class Target:
    """One figure: what was reached, with its confidence interval, and what was wanted."""

    case: str = column("what is compared with what")
    ranks: int | None = column("how many threads")
    placement: str | None = column("pinned to processors, or free")
    candidate: str | None = column("the barrier")
    value: float | None = column("the ratio reached")
    low: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high: float | None = column("upper end of it")
    target: str = column("the ratio wanted")
    verdict: str = column("met, missed, tie (the interval holds the target), or why it cannot be said here")


@dataclass(frozen=True)
class Wanted:
    """A ratio wanted: at most `most` and at least `least`."""

    most: float
    least: float = 0.0

    @property
    def text(self) -> str:
        return f"{self.least:.3g} to {self.most:.3g}" if self.least else f"at most {self.most:.3g}"

    def verdict(self, reached: Interval) -> str:
        if reached.low is None or reached.high is None:
            return "too few launches for an interval"
        if self.least <= reached.low and reached.high <= self.most:
            return "met"
        if reached.low > self.most or reached.high < self.least:
            return "missed"
        return "tie"

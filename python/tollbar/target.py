# SPDX-License-Identifier: Apache-2.0
"""One figure that tollbar wants to reach, and the verdict on what was reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tollbar.statistics import Interval


@dataclass(frozen=True)
class Target:
    """A ratio that was reached, its 95 % interval, the ratio wanted, and what can be said of them."""

    case: str
    ranks: int | None
    placement: str | None
    candidate: str | None
    value: float | None
    low: float | None
    high: float | None
    target: str
    verdict: str


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

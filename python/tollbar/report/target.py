# SPDX-License-Identifier: Apache-2.0
"""A target: what was reached, what is wanted, and what can be said of them."""

from __future__ import annotations

from dataclasses import dataclass

from tollbar.data.statistics import Interval


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
    mpi: str | None = None  #: or the OpenSHMEM that it is about


@dataclass(frozen=True)
class Wanted:
    """A ratio wanted: at most `most` and at least `least`."""

    most: float | None = None
    least: float | None = None

    @property
    def text(self) -> str:
        if self.most is None:
            return f"at least {self.least:.3g}"
        return (
            f"{self.least:.3g} to {self.most:.3g}" if self.least is not None else f"at most {self.most:.3g}"
        )

    def verdict(self, reached: Interval) -> str:
        if reached.low is None or reached.high is None:
            return "too few launches for an interval"
        least = float("-inf") if self.least is None else self.least
        most = float("inf") if self.most is None else self.most
        if least <= reached.low and reached.high <= most:
            return "met"
        if reached.low > most or reached.high < least:
            return "missed"
        return "tie"

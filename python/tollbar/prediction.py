# SPDX-License-Identifier: Apache-2.0
"""What a barrier should take by the LogP model, from measured L, o and g or from one measured point.

Hoefler et al. ("the LogP paper") draw a prediction beside each measurement; so does the report.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import tollbar


@dataclass(frozen=True)
class Model:
    """L, o and g in nanoseconds, the processors that the ranks share, and where all that comes from."""

    latency_ns: float
    overhead_ns: float
    gap_ns: float
    processors: int | None
    origin: str

    def predict(self, spelling: str, ranks: int) -> float | None:
        """The price of that plan in nanoseconds; None when there is no such plan for so many ranks.

        The model gives every rank a processor. Where they share some, the messages' overheads take turns on
        these, and the barrier takes no less than that.
        """
        try:
            logp = tollbar.LogP(L=self.latency_ns, o=self.overhead_ns, g=self.gap_ns)
            price = tollbar.price(tollbar.plan(spelling, ranks), logp)
        except (ValueError, ImportError):
            return None
        if self.processors is None or ranks <= self.processors:
            return price.last_us
        return max(price.last_us, price.messages * 2 * self.overhead_ns / self.processors)


def fitted(points: Iterable[tuple[int, float]], processors: int | None) -> Model | None:
    """The model in which dissemination takes what it took at the fewest ranks: (ranks, nanoseconds) points.

    Dissemination takes ceil(log2 P) (2 o + L); one point cannot tell o from L, so they and g are taken to be
    equal.
    """
    usable = sorted((ranks, ns) for ranks, ns in points if ranks >= 2)
    if not usable:
        return None
    ranks, ns = usable[0]
    third = ns / math.ceil(math.log2(ranks)) / 3
    origin = f"L = o = g = {third / 1e3:.3g} µs, fitted to one point: dissemination between {ranks}"
    return Model(third, third, third, processors, origin)


def measured(latency_ns: float, overhead_ns: float, gap_ns: float, processors: int | None) -> Model:
    """The model with parameters that were measured on their own, by messages and not by barriers."""
    times = (
        f"{name} = {ns / 1e3:.3g}" for name, ns in zip("Log", (latency_ns, overhead_ns, gap_ns), strict=True)
    )
    return Model(latency_ns, overhead_ns, gap_ns, processors, f"{', '.join(times)} µs, as measured")


def curve(model: Model, spelling: str, ranks: Sequence[int]) -> tuple[list[int], list[float]]:
    """The predictions for these numbers of ranks, where the plan has one."""
    found = [(each, ns) for each in ranks if (ns := model.predict(spelling, each)) is not None]
    return [each for each, _ in found], [ns for _, ns in found]

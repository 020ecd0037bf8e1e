# SPDX-License-Identifier: Apache-2.0
"""What a barrier should take by the LogP model, from measured L, o and g or from one measured point.

Hoefler et al. ("the LogP paper") draw a prediction beside each measurement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import tollbar


@dataclass(frozen=True)
class Model:
    """L, o and g in nanoseconds, the processors that the ranks share, and where all that comes from.

    The model gives every rank a processor. Where ranks share them, work counts and not the longest path: the
    messages take turns, and each of them costs somebody `turn_ns` of processor time.
    """

    latency_ns: float
    overhead_ns: float
    gap_ns: float
    processors: int | None
    origin: str
    turn_ns: float | None = None

    def predict(self, spelling: str, ranks: int) -> float | None:
        """The price of that plan in nanoseconds; None when there is no such plan for so many ranks."""
        try:
            logp = tollbar.LogP(L=self.latency_ns, o=self.overhead_ns, g=self.gap_ns)
            price = tollbar.price(tollbar.plan(spelling, ranks), logp)
        except (ValueError, ImportError):
            return None
        if self.processors is None or ranks <= self.processors:
            return price.last_us
        turn = 2 * self.overhead_ns if self.turn_ns is None else self.turn_ns
        return max(price.last_us, price.messages * turn / self.processors)


def fitted(points: Iterable[tuple[int, float]], processors: int | None) -> Model | None:
    """The model in which dissemination takes what it took at the fewest ranks: (ranks, nanoseconds) points.

    Dissemination takes ceil(log2 P) (2 o + L); one point cannot tell o from L, so they and g are taken to be
    equal. What a message costs where ranks share processors is fitted to the first point of that kind.
    """
    usable = sorted((ranks, ns) for ranks, ns in points if ranks >= 2)
    if not usable:
        return None
    ranks, ns = usable[0]
    third = ns / math.ceil(math.log2(ranks)) / 3
    origin = f"L = o = g = {third / 1e3:.3g} µs, fitted to one point: dissemination between {ranks}"
    crowded = next(((r, t) for r, t in usable if processors and r > processors), None)
    if not processors or not crowded:
        return Model(third, third, third, processors, origin)
    turn = crowded[1] * processors / _messages(crowded[0])
    origin += f"; beyond {processors} ranks {turn / 1e3:.3g} µs a message, fitted to that between {crowded[0]}"
    return Model(third, third, third, processors, origin, turn)


def _messages(ranks: int) -> int:
    """Of dissemination."""
    return ranks * math.ceil(math.log2(ranks))

# SPDX-License-Identifier: Apache-2.0
"""Predictions of barriers by the LogP model, from one measured point.

Hoefler et al. ("the LogP paper") draw a prediction beside each measurement.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import tollbar


@dataclass(frozen=True)
class Model:
    """The costs of a message, in nanoseconds, and the processors that the ranks share.

    The model gives every rank a processor. On processors that ranks share, work counts and not the longest path: the
    messages take turns, and each of them costs somebody `turn_ns` of processor time.
    """

    logp: tollbar.LogP
    processors: int | None = None
    turn_ns: float | None = None

    def predict(self, spelling: str, ranks: int) -> float | None:
        """The price of that plan in nanoseconds; None when there is no such plan for so many ranks."""
        try:
            price = tollbar.price(tollbar.plan(spelling, ranks), self.logp)
        except (ValueError, ImportError):
            return None
        if self.processors is None or ranks <= self.processors:
            return price.last_us
        turn_ns = 2 * self.logp.o if self.turn_ns is None else self.turn_ns
        return max(price.last_us, price.messages * turn_ns / self.processors)


def fitted(points: Iterable[tuple[int, float]], processors: int | None) -> Model | None:
    """The model in which dissemination takes what it took at the fewest ranks: (ranks, nanoseconds) points.

    Dissemination takes ceil(log2 P) (2 o + L); one point cannot tell o from L, so they and g are taken to be
    equal. The cost of a message where ranks share processors is fitted to the first point of that kind.
    """
    usable = sorted((ranks, ns) for ranks, ns in points if ranks >= 2)
    if not usable:
        return None
    ranks, ns = usable[0]
    third = ns / _rounds(ranks) / 3
    shared = next(((ranks, ns) for ranks, ns in usable if processors and ranks > processors), None)
    turn_ns = shared[1] * processors / (shared[0] * _rounds(shared[0])) if processors and shared else None
    return Model(tollbar.LogP(third, third, third), processors, turn_ns)


def _rounds(ranks: int) -> int:
    """The rounds of dissemination."""
    return (ranks - 1).bit_length()

# SPDX-License-Identifier: Apache-2.0
"""Several barriers on one machine on which messages get in each other's way.

A message takes L = o = g, as LogP has it, and besides has the network, or the bus between caches, to itself
for a while. A barrier waits for all its messages, so each of them adds that while to the price of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tollbar
from scipy import optimize

from tollbar_lab.models.logp_fit import Measured

_UNIT = tollbar.LogP(L=1, o=1, g=1)
_UNITS_A_MESSAGE = 3  # 2o + L


@dataclass(frozen=True)
class Machine:
    """The costs of a message, in microseconds."""

    message_us: float  #: on the longest path: 2o + L, with L = o = g
    alone_us: float = 0.0  #: in which nobody else's message passes

    def price_us(self, plan: str, ranks: int) -> float:
        """The price of a plan. Raises ValueError for one, or a number of ranks, that the catalogue does not have."""
        priced = tollbar.price(tollbar.plan(plan, ranks), _UNIT)
        return self.message_us / _UNITS_A_MESSAGE * priced.last_us + self.alone_us * priced.messages


def fit(rows: Sequence[Measured], *, contended: bool) -> Machine:
    """The machine with the least squares of the relative residuals; costs are never below 0."""
    columns = []
    for row in rows:
        alone = [Machine(1.0).price_us(row.plan, row.ranks), Machine(0.0, 1.0).price_us(row.plan, row.ranks)]
        columns.append([value / row.us for value in alone[: 2 if contended else 1]])
    costs, _ = optimize.nnls(np.array(columns), np.ones(len(rows)))
    return Machine(*map(float, costs))


def worst(machine: Machine, rows: Sequence[Measured]) -> float:
    """The largest relative difference of the machine from what was measured."""
    return max(abs(machine.price_us(row.plan, row.ranks) / row.us - 1) for row in rows)


def alone_for(cheap: str, dear: str, ranks: int) -> float | None:
    """The part of a message in which it has to be alone so that `cheap` costs as little as `dear`.

    0 where it does without; None where no part is enough, because `cheap` does not send fewer messages.
    """
    path, messages = (
        machine.price_us(cheap, ranks) - machine.price_us(dear, ranks) for machine in (Machine(1.0), Machine(0.0, 1.0))
    )
    if path <= 0:
        return 0.0
    return None if messages >= 0 else -path / messages

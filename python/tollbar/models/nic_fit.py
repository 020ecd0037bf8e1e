# SPDX-License-Identifier: Apache-2.0
"""Parameters of the NIC timing model, by least squares from measured latencies of a pairwise exchange.

Host-based a barrier of s steps takes s (a + b + SDMA), NIC-based a + s b. Sizes with the same number of
steps say nothing more of a and b than one of them does; then only bounds are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

import tollbar


@dataclass(frozen=True)
class Point:
    nodes: int
    host_us: float
    nic_us: float


@dataclass(frozen=True)
class Term:
    """A parameter with all values that fit equally well."""

    us: float
    low_us: float
    high_us: float


@dataclass(frozen=True)
class Fit:
    terms: dict[str, Term]  #: H, a, b, SDMA

    @property
    def card(self) -> tollbar.NicParts:
        """One that has these sums; what is inside them is split evenly, which no latency shows."""
        return self.slower_card(1.0)

    def slower_card(self, times: float) -> tollbar.NicParts:
        """The same, all of whose parts take so many times as long."""
        fixed_us, step_us, sdma_us = (times * self.terms[name].us for name in ("a", "b", "SDMA"))
        return tollbar.NicParts(
            send_us=fixed_us / 3,
            sdma_us=sdma_us,
            xmit_us=step_us / 2,
            network_us=step_us / 2,
            recv_us=step_us / 2,
            rdma_us=fixed_us / 3,
            hrecv_us=fixed_us / 3,
        )


def fit(points: Sequence[Point]) -> Fit:
    """The non-negative parameters with the least squares of relative errors; ValueError where none fit."""
    steps = [tollbar.nic_steps(tollbar.plan("pairwise", point.nodes))[0] for point in points]
    if len(set(steps)) == 1:
        return _bounded(points)
    host = [[s / point.host_us] * 3 for s, point in zip(steps, points, strict=True)]
    nic = [[1 / point.nic_us, s / point.nic_us, 0] for s, point in zip(steps, points, strict=True)]
    (fixed_us, step_us, sdma_us), _ = nnls(np.array(host + nic), np.ones(2 * len(points)))
    terms_us = {"H": fixed_us + step_us + sdma_us, "a": fixed_us, "b": step_us, "SDMA": sdma_us}
    return Fit({name: Term(float(us), float(us), float(us)) for name, us in terms_us.items()})


def _bounded(points: Sequence[Point]) -> Fit:
    host_us = float(np.mean([point.host_us for point in points]))
    nic_us = float(np.mean([point.nic_us for point in points]))
    ranges = tollbar.nic_ranges(points[0].nodes, host_us, nic_us)
    return Fit({name: Term(sum(ranges[name]) / 2, *ranges[name]) for name in ("H", "a", "b", "SDMA")})

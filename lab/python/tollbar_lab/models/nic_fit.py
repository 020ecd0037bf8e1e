# SPDX-License-Identifier: Apache-2.0
"""Parameters of the NIC timing model, by least squares from measured latencies of a pairwise exchange.

Host-based a barrier of s steps takes s (a + b + SDMA), NIC-based a + s b. Two numbers of steps tell a from b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import tollbar
from scipy.optimize import nnls
from tollbar.backports import zip_equal

import tollbar_lab


@dataclass(frozen=True)
class Point:
    """The barriers between so many nodes."""

    nodes: int
    host_us: float
    nic_us: float


@dataclass(frozen=True)
class Fit:
    """The sums that latencies tell: a is send, RDMA and host receive, b is a step on the NIC."""

    a_us: float
    b_us: float
    sdma_us: float

    def nic(self, times: float = 1.0) -> tollbar_lab.NicParts:
        """A NIC with these sums, so many times as slow; they are split evenly, which no latency shows."""
        a_us, b_us = times * self.a_us, times * self.b_us
        return tollbar_lab.NicParts(
            send_us=a_us / 3,
            sdma_us=times * self.sdma_us,
            xmit_us=b_us / 2,
            network_us=b_us / 2,
            recv_us=b_us / 2,
            rdma_us=a_us / 3,
            hrecv_us=a_us / 3,
        )


def fit(points: Sequence[Point]) -> Fit:
    """The non-negative parameters with the least squares of relative errors."""
    steps = [tollbar_lab.nic_steps(tollbar.plan("pairwise", point.nodes))[0] for point in points]
    host = [[s / point.host_us] * 3 for s, point in zip_equal(steps, points)]
    nic = [[1 / point.nic_us, s / point.nic_us, 0] for s, point in zip_equal(steps, points)]
    parts_us, _ = nnls(np.array(host + nic), np.ones(2 * len(points)))
    return Fit(*map(float, parts_us))

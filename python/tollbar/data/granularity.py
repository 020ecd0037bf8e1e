# SPDX-License-Identifier: Apache-2.0
"""How much has to be computed between barriers for a wanted efficiency, from loops that were measured.

The text of Buntinas et al., section 4.3, defines it as computing time; what their Figure 7 plots is the whole
loop. Both are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tollbar.data.comparison import Candidate
from tollbar.data.workloads import Workloads


@dataclass(frozen=True)
class Needed:
    """In microseconds."""

    compute_us: float  #: the computing in a loop
    loop_us: float  #: that, and the barrier


def loops_us(found: Workloads, candidate: Candidate) -> dict[float, float]:
    """Computing that does not vary -> the loop of it and a barrier."""
    loops = {
        float(name): by[candidate].run.value / 1e3
        for name, by in found.items()
        if name.replace(".", "").isdigit() and candidate in by
    }
    return dict(sorted(loops.items()))


def needed(loops: Mapping[float, float], efficiency: float) -> Needed | None:
    """The least computing from which on every measured loop is that efficient; None where none is.

    Between two measured loops the loop's time is a straight line.
    """
    short = [us - efficiency * loop_us for us, loop_us in loops.items()]  # of efficient; below 0: too little
    below = max((number for number, each in enumerate(short) if each < 0), default=None)
    if below is None or below + 1 == len(short):
        return None
    before, after = list(loops)[below : below + 2]
    part = -short[below] / (short[below + 1] - short[below])
    compute_us = before + part * (after - before)
    return Needed(compute_us, compute_us / efficiency)

# SPDX-License-Identifier: Apache-2.0
"""The summary table of the split-mode paper, and what stands beside it here.

Raymond, "Implementing Split-Mode Barriers in OpenSHMEM": dynamic sparse data exchange,
1000 iterations, 768 PEs on 32 nodes of an SGI ICE X with ConnectX-3 FDR cards.
"""

from __future__ import annotations

from dataclasses import dataclass

PES = 768
PES_A_NODE = 24
ITERATIONS = 1000


@dataclass(frozen=True)
class Experiment:
    """A row: how the exchange was synchronized, and how measuring programs call that."""

    name: str
    barrier: str  #: a label of tollbar-bench-dsde
    seconds: float | None = None  #: published


EXPERIMENTS = (
    Experiment("MPI_Ibarrier()", "MPI_Ibarrier", 0.551),
    Experiment("32-bit AMOs", "dissemination (amo32)", 1.463),
    Experiment("64-bit AMOs", "dissemination (amo64)", 0.663),
    Experiment("Non-blocking 64-bit AMO", "dissemination (posted:1)", 0.688),
    Experiment("2 asynchronous 64-bit AMOs", "dissemination (posted:2)", 0.678),
    Experiment("4 asynchronous 64-bit AMOs", "dissemination (posted:4)", 0.671),
    Experiment("64-bit Puts", "dissemination (puts)", 0.485),
    Experiment("Progress engine integration", "dissemination (engine)", 0.484),
)

#: Barriers that the paper does not have: tollbar's other ways, and what users have without a split barrier.
OTHERS = (
    Experiment("any number of asynchronous AMOs", "dissemination (posted)"),
    Experiment("direct stores", "dissemination (stores)"),
    Experiment("puts, one shot", "one-shot (puts)"),
    Experiment("direct stores, one shot", "one-shot (stores)"),
    Experiment("counter and release", "counter (puts)"),
    Experiment("what tollbar takes by itself", "default"),
    Experiment("shmem_barrier_all, not split", "shmem_barrier_all"),
    Experiment("messages, Issend and Ibarrier (NBX)", "MPI NBX"),
)


def published() -> dict[str, float]:
    """Seconds by experiment, in the paper's order."""
    return {row.name: row.seconds for row in EXPERIMENTS if row.seconds is not None}

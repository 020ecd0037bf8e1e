# SPDX-License-Identifier: Apache-2.0
"""tollbar bench WHAT --targets: how far this machine is from the figures that the project wants to reach."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tollbar.cli.table import Table, column


@dataclass(frozen=True)
class Compared:
    """One target and how far this machine is from it."""

    case: str = column("what is compared")
    mpi: str | None = column("the MPI, where ranks are its processes")
    ranks: int | None = column("number of threads or processes")
    placement: str | None = column("pinned to processors, or free; how many hosts")
    candidate: str | None = column("the barrier")
    value: float | None = column("the ratio reached")
    low: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high: float | None = column("upper end of it")
    target: str = column("the target ratio")
    verdict: str = column("met, missed, tie (the interval contains the target), or why there is no verdict")


def table(folder: Path, failed: bool) -> Table:
    """The targets of a stored run, judged."""
    from tollbar.data import samples
    from tollbar.report import targets

    found = samples.read([folder])
    rows = [Compared(**vars(each)) for each in targets.evaluate(found)]
    floors = targets.floors(found)
    notes = ["floors: " + "; ".join(floors)] if floors else []
    if set(found.rows["bench"]) == {"shmem"}:
        skipped = found.skipped.select("name", "why").unique(maintain_order=True)
        notes += [f"not measured: {name}: {why}" for name, why in skipped.iter_rows()]
    return Table(rows, Compared, failed=failed, notes=[*notes, f"every sample is in {folder}"])

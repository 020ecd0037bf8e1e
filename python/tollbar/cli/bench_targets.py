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
    from tollbar.data import comparison, mpi_places, results, shmem_results
    from tollbar.report import mpi_targets, shmem_targets, targets

    run = results.read_run(folder)
    kind = str(run.environment.get("kind"))
    floors: list[str] = []
    if kind == "shmem":
        measured = shmem_results.gather(run.launches)
        reached = shmem_targets.evaluate(measured)
        floors += [f"not measured: {name}: {why}" for name, why in shmem_results.skipped(measured).items()]
    elif kind == "mpi":
        places = mpi_places.gather(run.launches)
        reached, floors = mpi_targets.evaluate(places), _told(mpi_targets.floors(places))
    else:
        compared = comparison.compare(run.launches)
        reached, floors = targets.evaluate(compared), _told(targets.floors(compared))
    rows = [Compared(**{"mpi": None} | vars(each)) for each in reached]
    return Table(rows, Compared, failed=failed, notes=[*floors, f"every sample is in {folder}"])


def _told(floors: list[str]) -> list[str]:
    return ["floors: " + "; ".join(floors)] if floors else []

# SPDX-License-Identifier: Apache-2.0
"""tollbar bench --compute: what a run takes when ranks compute between barriers, whatever those run over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.data import workloads
    from tollbar.data.places import Candidate, Situation
    from tollbar.data.samples import Samples


@dataclass(frozen=True)
class Run:
    """One workload with one barrier."""

    over: str = column("threads, the MPI, shmem, hosts, or loopback where there are no hosts")
    ranks: int = column("how many")
    placement: str = column("pinned to processors, or free")
    workload: str = column("computing time before each barrier; ~ by which share it varies; or an application")
    candidate: str = column("the barrier")
    run_us: float = column("one run of all phases: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches")
    high_us: float | None = column("upper end of it")
    computing_us: float = column("computing time of a rank in it")
    longest_us: float = column("lower bound: in each phase, the rank that computes longest")
    barrier_us: float = column("what each barrier adds to that")
    efficiency: float = column("the share of the run that is computing")


def table(folder: Path, failed: bool) -> Table:
    """The runs of workloads that are stored there."""
    from tollbar.data import samples

    measured = samples.read([folder])
    notes = [f"every run is in {folder}"]
    return Table(rows(measured), Run, failed=failed or measured.records.is_empty(), notes=notes)


def rows(measured: Samples) -> list[Run]:
    """A row for each workload and barrier of a stored run, the fastest barrier first."""
    from tollbar.data import workloads

    return [
        _row(place, name, candidate, run)
        for place, by_workload in workloads.gather(measured).items()
        for name, candidates in by_workload.items()
        for candidate, run in sorted(candidates.items(), key=lambda item: item[1].run.value)
    ]


def _row(place: Situation, name: str, candidate: Candidate, measured: workloads.Run) -> Run:
    taken = measured.run
    return Run(
        over=place.over,
        ranks=place.ranks,
        placement=place.placement,
        workload=name,
        candidate=candidate.label,
        run_us=taken.value / 1e3,
        low_us=taken.low and taken.low / 1e3,
        high_us=taken.high and taken.high / 1e3,
        computing_us=measured.computing_ns / 1e3,
        longest_us=measured.longest_ns / 1e3,
        barrier_us=measured.barrier_ns / 1e3,
        efficiency=measured.efficiency,
    )

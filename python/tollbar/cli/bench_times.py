# SPDX-License-Identifier: Apache-2.0
"""The rows that a bench prints: one a barrier and situation, the fastest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.data.samples import Samples


@dataclass(frozen=True)
class Timed:
    """One barrier in one situation."""

    over: str | None = column("what signals travel over: the MPI, shmem, hosts or the loopback")
    where: str | None = column("pinned to processors or free; hosts; neighbours; a control group each; processors")
    ranks: int = column("how many threads, processes, PEs or hosts")
    threads: int | None = column("how many threads in each rank")
    cpus: int = column("how many CPUs they may use, of each host", detail=True)
    compute: str | None = column("microseconds of computing in a turn; ~ by which share it varies; or an application")
    barrier: str = column("the barrier, how it waits unless that is as usual; [..]: what implements it")
    median_us: float | None = column("an episode: last entry to last exit, median")
    p99_us: float | None = column("its 99th percentile")
    period_us: float = column("a turn, computing and an episode: the time of many over their number")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches", detail=True)
    high_us: float | None = column("upper end of it", detail=True)
    fastest: float | None = column("its turn over that of the fastest, paired by round", ends=True)
    fastest_low: float | None = column(
        "lower end of an interval that holds for all barriers of the situation together (95 %)", detail=True
    )
    fastest_high: float | None = column("upper end of it", detail=True)
    fastest_is: str = column("which that is", detail=True)
    verdict: str = column(
        "fastest; tie: cannot be told from the fastest; slower (95 %, all together); ?: fewer than six launches; "
        "apart: in no run with it"
    )
    today: float | None = column("its turn over that of what users have today, paired by round", ends=True)
    today_low: float | None = column("lower end of its 95 % interval", detail=True)
    today_high: float | None = column("upper end of it", detail=True)
    today_is: str | None = column("which that is", detail=True)
    least_us: float | None = column("no turn takes less: the computing of the rank that computes longest", detail=True)
    loop_mean_us: float = column("mean turn, as papers count", detail=True)
    inside_mean_us: float | None = column("mean time of all participants in their calls", detail=True)
    call_us: float | None = column("what rank 0 spends in its call: median", detail=True)
    skew_us: float | None = column("first exit to last exit: median", detail=True)
    alone_us: float | None = column("an episode after a pause, last entry to last exit: median", detail=True)
    cpu_us: float | None = column("CPU time of all participants together a turn", detail=True)
    switches: float | None = column("context switches of all participants a turn", detail=True)
    launches: int = column("processes or jobs that measured it", detail=True)


def table(folder: Path, failed: bool, every_policy: bool = False) -> Table:
    """The times of a stored run. Without `every_policy`, of each barrier those under its usual one."""
    import polars as pl

    from tollbar.data import samples
    from tollbar.report import times

    measured = samples.read([folder])
    hidden, shown = 0, measured
    if not every_policy:
        usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
        hidden = measured.records.filter(~usual)["candidate"].n_unique()
        shown = replace(measured, records=measured.records.filter(usual))
    rows = [Timed(**row) for situation in times.situations(shown) for row in situation]
    notes = [*_notes(rows, hidden), *_findings(measured), f"every sample is in {folder}"]
    return Table(rows, Timed, failed=failed or not rows, notes=notes, digits=3)


def _notes(rows: Sequence[Timed], hidden: int) -> Iterator[str]:
    from tollbar.data.statistics import FEWEST

    today = list(dict.fromkeys(row.today_is for row in rows if row.today_is))
    if today:
        yield f"today: times {' or '.join(today)}"
    if rows and min(row.launches for row in rows) < FEWEST:
        yield "(?): with fewer than six launches there is no interval and no verdict: `--effort usual` has more"
    if hidden:
        yield f"{hidden} barriers under other waiting policies are not shown (--effort full, or name them)"


def _findings(measured: Samples) -> Iterator[str]:
    """A line for each kind of neighbours and number of CPUs: how far from the best what waits by itself is."""
    from tollbar.data import cells
    from tollbar.report import threads_section

    yield from threads_section.lines(cells.gather(measured))

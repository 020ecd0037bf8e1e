# SPDX-License-Identifier: Apache-2.0
"""The rows that a bench prints: one a barrier and number of participants, the fastest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tollbar.cli.table import Table, column


@dataclass(frozen=True)
class Timed:
    """One barrier in one place."""

    over: str | None = column("what signals travel over: the MPI, shmem, hosts or the loopback")
    where: str | None = column("pinned to processors or free; hosts; neighbours; a control group each")
    ranks: int = column("how many threads, processes, PEs or hosts")
    threads: int | None = column("how many threads in each rank")
    barrier: str = column("the barrier, how it waits unless that is as usual; [..]: what implements it")
    median_us: float | None = column("an episode: last entry to last exit, median")
    p99_us: float | None = column("its 99th percentile")
    period_us: float = column("loop period, the time of many episodes over their number: median over launches")
    low_us: float | None = column("lower end of its 95 % interval; empty with too few launches", detail=True)
    high_us: float | None = column("upper end of it", detail=True)
    fastest: float | None = column("loop period over that of the fastest, paired by round", ends=True)
    fastest_low: float | None = column(
        "lower end of an interval that holds for all barriers of the place together (95 %)", detail=True
    )
    fastest_high: float | None = column("upper end of it", detail=True)
    fastest_is: str = column("which that is", detail=True)
    verdict: str = column(
        "fastest; tie: cannot be told from the fastest; slower (95 %, all together); ?: fewer than six launches; "
        "apart: in no run with it"
    )
    today: float | None = column("loop period over that of what users have today, paired by round", ends=True)
    today_low: float | None = column("lower end of its 95 % interval", detail=True)
    today_high: float | None = column("upper end of it", detail=True)
    today_is: str | None = column("which that is", detail=True)
    loop_mean_us: float = column("mean loop period, as papers count", detail=True)
    inside_mean_us: float | None = column("mean time of all participants in their calls", detail=True)
    call_us: float | None = column("what rank 0 spends in its call: median", detail=True)
    skew_us: float | None = column("first exit to last exit: median", detail=True)
    alone_us: float | None = column("an episode after a pause, last entry to last exit: median", detail=True)
    cpu_us: float | None = column("CPU time of all participants together an episode", detail=True)
    switches: float | None = column("context switches of all participants an episode", detail=True)
    launches: int = column("processes or jobs that measured it", detail=True)


def table(folder: Path, failed: bool, every_policy: bool = False) -> Table:
    """The times of a stored run. Without `every_policy`, of each barrier those under its usual one."""
    import polars as pl

    from tollbar.data import samples
    from tollbar.report import times

    measured = samples.read([folder])
    hidden = 0
    if not every_policy:
        usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
        hidden = measured.records.filter(~usual)["candidate"].n_unique()
        measured = replace(measured, records=measured.records.filter(usual))
    rows = [Timed(**row) for situation in times.situations(measured) for row in situation]
    notes = [*_notes(rows, hidden), f"every sample is in {folder}"]
    return Table(rows, Timed, failed=failed, notes=notes, digits=3)


def _notes(rows: Sequence[Timed], hidden: int) -> Iterator[str]:
    from tollbar.data.statistics import FEWEST

    today = list(dict.fromkeys(row.today_is for row in rows if row.today_is))
    if today:
        yield f"today: times {' or '.join(today)}"
    if rows and min(row.launches for row in rows) < FEWEST:
        yield "(?): with fewer than six launches there is no interval and no verdict: `--effort usual` has more"
    if hidden:
        yield f"{hidden} barriers under other waiting policies are not shown (--effort full, or name them)"

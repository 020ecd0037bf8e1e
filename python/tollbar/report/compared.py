# SPDX-License-Identifier: Apache-2.0
"""Today's barriers against tollbar's on each machine: the rows of the tables in README.md and docs/results.md.

for pair in compared.pairs(measured)["threads"]: pair.where, pair.today_ns, pair.ours_ns, pair.times
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tollbar.data import neighbours, places
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.machine import noise
from tollbar.report import tables, times, today
from tollbar.report.charts import time_text

#: The benches that have a table; neighbours: threads beside these.
BENCHES = ("threads", "neighbours", "mpi", "hybrid", "shmem", "udp")
#: The barriers that stand for tollbar's in each bench: the first of them that was measured in a situation.
_OURS = {
    "threads": (today.OURS,),
    "neighbours": (today.OURS,),
    "mpi": tuple(today.DOORS),
    "hybrid": ("turnstile/turnstile", "turnstile/dissemination"),
    "shmem": ("default",),
    "udp": ("MPI_Barrier [component on cards by choice]",),
}
#: Situations beside neighbours that have a row: of threads that move and compute nothing between.
_BESIDE_RANKS = (2, 8)


@dataclass(frozen=True)
class Pair:
    """Today's barrier, and the one that stands in for it, in one situation; times in ns, and a ratio."""

    where: str
    today: str
    today_ns: float
    ours: str
    ours_ns: float
    times: Interval

    @property
    def is_tie(self) -> bool:
        return self.times.low is not None and self.times.high is not None and self.times.low <= 1 <= self.times.high

    @property
    def cell(self) -> str:
        """The times, the ratio and its launches, as a cell of a table for one machine."""
        ratio = f"{tables.times_text(self.times.value)} ({tables.interval_text(self.times)}"
        ratio += ", tie)" if self.is_tie else ")"
        launches = f"<br>n = {self.times.count}" if self.times.low is not None else ""
        return f"{time_text(self.today_ns)}, {time_text(self.ours_ns)}: {ratio}{launches}"


def machine_of(facts: Mapping[str, Any]) -> str:
    """The kind of machine a run belongs to: processor, kernel and hypervisor."""
    under = facts.get("hypervisor") or ("a virtual machine" if facts.get("virtual") else None)
    parts = (tables.machine_text(facts), facts.get("kernel") or "an unknown kernel", under)
    return ", ".join(part for part in parts if part)


def by_machine(stored: Samples) -> dict[str, Samples]:
    """The rows of each machine, without those of runs that were loud."""
    runs: dict[str, list[str]] = {}
    for name, facts in stored.environments.items():
        runs.setdefault(machine_of(facts), [])
        if not noise.loud(facts):
            runs[machine_of(facts)].append(name)
    known = {
        machine: dataclasses.replace(stored, records=stored.records.filter(pl.col("run").is_in(names)))
        for machine, names in runs.items()
    }
    return {machine: samples for machine, samples in known.items() if not samples.records.is_empty()}


def pairs(measured: Samples) -> dict[str, list[Pair]]:
    """The rows of each bench that was measured on one machine, in the order of tables."""
    usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
    shown = dataclasses.replace(measured, records=measured.records.filter(usual))
    made: dict[str, list[Pair]] = {}
    for bench in BENCHES:
        records = shown.records.filter(_rows_of(bench))
        if today.MPI_BESIDE in records["candidate"]:  # in one process with tollbar's, by turns, which tells most
            records = records.filter(pl.col("candidate") != today.MPI_OWN)
        rows = dataclasses.replace(shown, records=records)
        known = [pair for situation in times.situations(rows) for pair in _pair(bench, situation)]
        if known:
            made[bench] = known
    return made


def _rows_of(bench: str) -> pl.Expr:
    if bench != "neighbours":
        return (pl.col("bench") == bench) & places.IS_PLAIN
    idle = (pl.col("placement") == "free") & (pl.col("computing") == "0") & (pl.col("kept_to") == 0)
    beside = ~pl.col("neighbours").is_in(neighbours.ALONE)
    return (pl.col("bench") == "threads") & idle & beside & pl.col("ranks").is_in(_BESIDE_RANKS)


def _pair(bench: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    """The first barrier that stands for tollbar's, against what users have today."""
    known = {row["barrier"]: row for row in rows if row["today"]}
    ours = next((known[name] for name in _OURS[bench] if name in known), None)
    if ours is None or ours["today_is"] == ours["barrier"]:
        return
    base = next(row for row in rows if row["barrier"] == ours["today_is"])
    value, low, high = (ours[f"today{end}"] and 1 / ours[f"today{end}"] for end in ("", "_high", "_low"))
    ratio = Interval(value, low, high, min(row["launches"] for row in (base, ours)))
    times_ns = [1e3 * row["period_us"] for row in (base, ours)]
    yield Pair(_where(bench, ours), base["barrier"], times_ns[0], ours["barrier"], times_ns[1], ratio)


def _where(bench: str, row: Mapping[str, Any]) -> str:
    ranks = row["ranks"]
    if bench == "threads":
        return f"{ranks} threads" + (", pinned" if row["where"] == "pinned" else "")
    if bench == "neighbours":
        return f"{ranks} threads {row['where'].removesuffix(', free')}"
    if bench == "udp":
        return f"{ranks} hosts"
    inside = f", {row['threads']} threads each" if row["threads"] else ""
    what = "PEs" if bench == "shmem" else f"ranks of {row['over']}"
    where = "" if row["where"] == "free" else f", {row['where']}"
    if str(row["over"]).startswith("MPICH") and ranks > row["cpus"]:
        where += " (misconfigured: more ranks than CPUs)"
    return f"{ranks} {what}{inside}{where}"


def table(of_machines: Mapping[str, Iterable[Pair]], launches: int = 0) -> str:
    """A row a situation, a column a machine; empty where nothing was measured. A machine of fewer launches has
    only their number there, and a row stands where one machine has enough."""
    met: dict[tuple[str, str, str], dict[str, str]] = {}
    enough: set[tuple[str, str, str]] = set()
    for machine, known in of_machines.items():
        for pair in known:
            is_enough = pair.times.count >= launches
            key = (pair.where, pair.today, pair.ours)
            met.setdefault(key, {})[machine] = pair.cell if is_enough else f"too few launches (n = {pair.times.count})"
            enough |= {key} if is_enough else set()
    met = {key: cells for key, cells in met.items() if key in enough}
    if not met:
        return ""
    rows = (
        [where, f"`{base}`, `{ours}`", *(cells.get(machine, "not measured") for machine in of_machines)]
        for (where, base, ours), cells in met.items()
    )
    return tables.markdown_table(["", "today, tollbar", *of_machines], rows)


def differences(of_machines: Mapping[str, Iterable[Pair]]) -> Iterator[str]:
    """A sentence for each barrier of today's, with the situations in which the intervals of its ratios on two machines
    do not touch."""
    met: dict[tuple[str, str], dict[str, dict[str, Interval]]] = {}
    for machine, known in of_machines.items():
        for pair in known:
            if pair.times.low is not None:
                met.setdefault((pair.today, pair.ours), {}).setdefault(pair.where, {})[machine] = pair.times
    for (base, ours), there in met.items():
        parts = [
            f"with {where} {' and '.join(map(tables.ratio_text, on.values()))}"
            for where, on in there.items()
            if any(_apart(one, other) for one in on.values() for other in on.values())
        ]
        if parts:
            machines = " and ".join(machine.partition(",")[0] for machine in of_machines)
            sentence = f"Machines differ: `{base}` takes so many times as long as `{ours}` on {machines}"
            yield f"{sentence}: {'; '.join(parts)}."


def _apart(one: Interval, other: Interval) -> bool:
    return bool(one.high and other.low and one.high < other.low)


def causes(measured: Samples) -> Iterator[str]:
    """The wait behind a great difference, with the context switches of an episode that were counted."""
    base, ours = (_switches(measured, "threads", 2, name) for name in (today.TODAY[0], today.OURS))
    if base is not None and ours is not None:
        yield (
            f"Cause: `{today.TODAY[0]}` of GCC 12 looks 16 times, yields at the last four, then sleeps in the kernel "
            f"and has to be woken: {base:.2g} context switches an episode of 2 threads, {ours:.2g} with `{today.OURS}`."
        )
    crowded = _switches(measured, "mpi", 4, "PMPI_Barrier", "MPICH")
    if crowded is not None and all(number < 4 for number in measured.records["processors"].unique()):
        yield (
            f"Cause: a rank of MPICH polls without yielding until the kernel takes its CPU away, {crowded:.2g} times "
            "an episode of 4 ranks; more of its ranks than CPUs are a misconfiguration."
        )


def _switches(measured: Samples, bench: str, ranks: int, name: str, over: str = "") -> float | None:
    rows = measured.of("switches").filter(
        _rows_of(bench), pl.col("ranks") == ranks, pl.col("candidate") == name, pl.col("placement") == "free"
    )
    rows = rows.filter(pl.col("over").str.starts_with(over)) if over else rows
    return float(np.median(rows["value"])) if len(rows) else None

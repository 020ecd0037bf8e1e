# SPDX-License-Identifier: Apache-2.0
"""The tables of the report, and its advice in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tollbar.backports import zip_equal
from tollbar.data import choice, places, statistics
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.summary import interval, medians, ratio, summary
from tollbar.report.candidates import PEERS

Places = Mapping[Situation, Measurements]

#: How processes are apart: all in one session, each in one of its own, each in a control group of its own.
TOGETHER, APART = "one session", ("sessions", "cgroups")


def times_text(value: float | None) -> str:
    """A ratio to three digits; a small one to two."""
    if value is None:
        return ""
    if 0 < value < 0.095:
        return f"{value:.2g}"
    return f"{value:.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def interval_text(ratio: statistics.Interval | None) -> str:
    """The ends of its interval; of too few launches their number, as an interval cannot be had."""
    if ratio is None:
        return ""
    if ratio.low is None or ratio.high is None:
        return few_text(ratio.count)
    return f"{times_text(ratio.low)} to {times_text(ratio.high)}"


def ratio_text(ratio: statistics.Interval | None) -> str:
    """A ratio with its interval in brackets."""
    return "" if ratio is None else f"{times_text(ratio.value)} ({interval_text(ratio)})"


def few_text(launches: int) -> str:
    """The words in place of an interval."""
    return f"n = {launches}, no interval"


def apart(samples: Samples) -> list[dict[str, Any]]:
    """Loop periods between processes in one session, and how many times as long they take apart."""
    rows = samples.of("period_ns").filter(pl.col("apart").is_in([TOGETHER, *APART]), bench="threads")
    records = rows.with_columns(candidate=pl.col("apart"))
    key = ["ranks", "name"]
    table = summary(dataclasses.replace(samples, records=records), "period_ns", by=key, to=TOGETHER)
    every = {tuple(row[name] for name in (*key, "candidate")): row for row in table.iter_rows(named=True)}
    together = sorted(
        (row for row in every.values() if row["candidate"] == TOGETHER), key=lambda row: (row["ranks"], row["value"])
    )
    return [
        {
            "ranks": row["ranks"],
            "name": row["name"],
            "period": row["value"],
            "ratios": [ratio(of) if (of := every.get((row["ranks"], row["name"], how))) else None for how in APART],
        }
        for row in together
    ]


def waits(samples: Samples) -> list[tuple[str, statistics.Interval]]:
    """CPU time of all waiters over the time waited, least first."""
    table = medians(samples.of("waiters_share"), ["name"], samples.environments).sort("value")
    return [(row["name"], interval(row)) for row in table.iter_rows(named=True)]


def gains(measured: Measurements, pick: Candidate) -> dict[str, statistics.Interval | None]:
    """The loop period of each peer over that of the pick, which the data chose of tollbar's own."""
    ratios, own = measured.ratios(pick, of=PEERS), len(choice.rivals(measured))
    return {name: statistics.one_of(ratios[name], own) if name in ratios else None for name in PEERS}


def rows_of(measured: Measurements) -> list[dict[str, Any]]:
    """Everything about each candidate: medians with their intervals, and quantiles of all its episodes."""
    metrics = places.TIMES | {"switches": "switches", "cpu": "cpu_ns", "over_floor": "over_floor"}
    rows = []
    for candidate in measured.candidates:
        values = measured.latencies(candidate)
        p95, p99 = statistics.quantiles(values, (0.95, 0.99)) if len(values) else (None, None)
        medians = {name: measured.median(candidate, metric) for name, metric in metrics.items()}
        rows.append({"candidate": candidate, "p95": p95, "p99": p99} | medians)
    return rows


def everything(situations: Iterable[Measurements]) -> list[tuple[Measurements, list[dict[str, Any]]]]:
    """The candidates of every place, shortest latency first; those without stamped episodes come last."""
    return [
        (measured, sorted(rows_of(measured), key=lambda row: row["latency"].value if row["latency"] else np.inf))
        for measured in situations
    ]


def launches(situations: Places) -> tuple[int, int]:
    """The fewest and the most launches that a candidate had in a situation."""
    periods = [
        measured.median(candidate, "period_ns") for measured in situations.values() for candidate in measured.candidates
    ]
    counts = [period.count if period else 0 for period in periods]
    return min(counts, default=0), max(counts, default=0)


def machine_text(facts: Mapping[str, Any]) -> str:
    """The machine of a run, in a few words."""
    usable = facts.get("usable") or []
    return f"{facts.get('model') or 'unknown processor'}, {len(usable)} usable processors"


def markdown_table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The rows under those names, for a page of documentation, without the columns that are empty."""
    columns = zip_equal(names, *rows)
    kept = [(name, "---", *cells) for name, *cells in columns if any(cells)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in zip_equal(*kept))

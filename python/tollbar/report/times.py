# SPDX-License-Identifier: Apache-2.0
"""How long each barrier takes, a row each: beside the fastest, and beside what users have today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tollbar.data import statistics
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.data.summaries import SITUATION, intervals, medians, ratios

#: What users have today, by bench: the first of these that was measured. Of hybrid the faster of two.
TODAY = {
    "threads": ("std::barrier", "pthread_barrier"),
    "mpi": ("MPI_Barrier", "PMPI_Barrier"),
    "hybrid": ("pthread_barrier around MPI_Barrier", "omp barrier around MPI_Barrier"),
    "shmem": ("shmem_barrier_all", "MPI_Ibarrier"),
    "udp": ("MPI_Barrier",),
}


def situations(found: Samples) -> Iterator[list[dict[str, Any]]]:
    """The rows of each situation, the fastest first; pinned before free, fewest participants first.

    The keys of a row are the columns of `tollbar bench`; times are in microseconds.
    """
    import polars as pl

    in_situ = (pl.col("apart") == "launcher") | (pl.col("bench") == "mpi")
    periods = medians(found.of("period_ns").filter(in_situ), [*SITUATION, "candidate"])
    if periods.is_empty():
        return
    best = (
        periods.sort("value").group_by(SITUATION, maintain_order=True).first().select(*SITUATION, "candidate")
    )
    tables = _Tables(found, best, _today(periods))
    for _, rows in periods.sort("over", "hosts", "ranks", "threads", pl.col("placement") == "free").group_by(
        SITUATION, maintain_order=True
    ):
        yield [tables.row(row) for row in rows.sort("value").iter_rows(named=True)]


def _today(periods: pl.DataFrame) -> pl.DataFrame:
    """The candidate of each situation that users have today."""
    import polars as pl

    order = {name: place for names in TODAY.values() for place, name in enumerate(names)}
    known = periods.filter(pl.col("candidate").is_in(list(order)))
    rank = pl.col("candidate").replace_strict(order, default=0, return_dtype=pl.Int64)
    return known.sort(rank).group_by(SITUATION, maintain_order=True).first().select(*SITUATION, "candidate")


class _Tables:
    """What stands in a row beside the loop period, looked up by situation and candidate."""

    def __init__(self, found: Samples, best: pl.DataFrame, today: pl.DataFrame) -> None:
        by = [*SITUATION, "candidate"]
        self._by = by
        self._best = intervals(ratios(found, "period_ns", best), by)
        self._today = intervals(ratios(found, "period_ns", today), by)
        self._today_is = {row[:-1]: row[-1] for row in today.select(by).iter_rows()}
        metrics = ("latency_ns", "call_ns", "skew_ns", "alone_latency_ns", "cpu_ns", "switches")
        self._medians = {metric: intervals(medians(found.of(metric), by), by) for metric in metrics}
        tails = found.of("latency_ns").group_by(by).agg(pl.col("value").quantile(0.99))
        self._means = {metric: self._mean(found.of(metric)) for metric in ("period_ns", "inside_ns")}
        self._tails = {row[:-1]: row[-1] for row in tails.select(*by, "value").iter_rows()}
        self._slower = self._told_apart()

    def _mean(self, rows: pl.DataFrame) -> dict[tuple[Any, ...], float]:
        means = rows.group_by(self._by).agg(pl.col("value").mean()).select(*self._by, "value")
        return {row[:-1]: row[-1] for row in means.iter_rows()}

    def _told_apart(self) -> set[tuple[Any, ...]]:
        """Who is slower than the fastest of the situation, with Holm's correction for being several."""
        by_situation: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
        for key in self._best:
            by_situation.setdefault(key[:-1], []).append(key)
        slower = set()
        for keys in by_situation.values():
            others = [key for key in keys if self._best[key].value > 1]
            corrected = statistics.holm([self._best[key].p_value for key in others])
            slower |= {key for key, p in zip(others, corrected, strict=True) if p <= 1 - statistics.LEVEL}
        return slower

    def row(self, of: dict[str, Any]) -> dict[str, Any]:
        key = tuple(of[name] for name in self._by)
        situation = key[:-1]
        alone = all(other in self._slower for other in self._best if other[:-1] == situation and other != key)
        ratio, today = self._best[key], self._today.get(key)
        verdict = "slower" if key in self._slower else "fastest" if ratio.value == 1 and alone else "tie"

        def us(metric: str) -> float | None:
            found = self._medians[metric].get(key)
            return found and found.value / 1e3

        inside = self._means["inside_ns"].get(key)
        switches: Interval | None = self._medians["switches"].get(key)
        return {
            "over": of["over"] if of["over"] != "threads" else None,
            "where": _where(of),
            "ranks": of["ranks"],
            "threads": of["threads"] if of["threads"] > 1 else None,
            "barrier": of["candidate"],
            "median_us": us("latency_ns") or us("alone_latency_ns"),
            "p99_us": self._tails[key] / 1e3 if key in self._tails else None,
            "period_us": of["value"] / 1e3,
            "low_us": of["low"] and of["low"] / 1e3,
            "high_us": of["high"] and of["high"] / 1e3,
            "fastest": ratio.value,
            "verdict": verdict,
            "today": today and today.value,
            "today_low": today and today.low,
            "today_high": today and today.high,
            "today_is": self._today_is.get(situation),
            "loop_mean_us": self._means["period_ns"][key] / 1e3,
            "inside_mean_us": inside and inside / 1e3,
            "call_us": us("call_ns"),
            "skew_us": us("skew_ns"),
            "alone_us": us("alone_latency_ns"),
            "cpu_us": us("cpu_ns"),
            "switches": switches and switches.value,
            "launches": of["launches"],
        }


def _where(of: dict[str, Any]) -> str:
    words = [f"{of['hosts']} hosts"] if of["hosts"] > 1 else []
    words += [f"beside {of['company']}"] if of["company"] != "alone" else []
    words += ["a control group each"] if of["apart"] == "cgroups" else []
    words += [of["level"]] if of["level"] != "serialized" else []
    return ", ".join([*words, of["placement"]])

# SPDX-License-Identifier: Apache-2.0
"""Times of barriers, a row each: beside the fastest, and beside what users have today."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from tollbar.campaigns.mpi_settings import WATCHED_CALLS
from tollbar.data import neighbours
from tollbar.data.samples import Samples
from tollbar.data.summary import FASTEST, SITUATION, summary

#: Barriers that users have today: the first of these that was measured in a situation.
TODAY = (
    "std::barrier",
    "pthread_barrier",
    "pthread_barrier around MPI_Barrier",
    "omp barrier around MPI_Barrier",
    "MPI_Barrier",
    "PMPI_Barrier",
    "shmem_barrier_all",
    "MPI_Ibarrier",
)
_KEY = [*SITUATION, "candidate"]
_MORE = ("least_ns", "latency_ns", "call_ns", "inside_ns", "skew_ns", "alone_latency_ns", "cpu_ns", "switches")


def situations(samples: Samples) -> Iterator[list[dict[str, Any]]]:
    """The rows of each situation, the fastest first; pinned before free, fewest participants and least computing first.

    The keys of a row are the columns of `tollbar bench`; times are in microseconds.
    """
    in_situ = (pl.col("apart") == "launcher") | (pl.col("bench") == "mpi")
    records = samples.records.filter(in_situ)
    call = pl.col("name").str.replace(r" \[.*\]$", "").str.strip_prefix("P")
    barriers = records.filter(~call.is_in(WATCHED_CALLS))
    yield from _compared(dataclasses.replace(samples, records=barriers), TODAY)
    for name in WATCHED_CALLS:  # each beside the MPI's own below what watches it, and nothing else
        of_call = records.filter(call == name)
        if not of_call.is_empty():
            yield from _compared(dataclasses.replace(samples, records=of_call), [f"P{name}"])


def _compared(shown: Samples, today: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
    periods = summary(shown, "period_ns", to=FASTEST)
    known = {_key(row): row for row in summary(shown, "period_ns", to=today).iter_rows(named=True)}
    more: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in summary(shown, *_MORE).iter_rows(named=True):
        more.setdefault(_key(row), {})[row["metric"]] = row
    order_of = {name: number for number, name in enumerate(neighbours.ORDER)}
    beside = pl.col("neighbours").replace_strict(order_of, default=len(order_of))
    free = pl.col("placement") == "free"
    work = pl.col("computing").str.extract(r"^([\d.]+)").cast(pl.Float64)
    order = ("over", "hosts", beside, "processors", "ranks", "threads", free, work, "computing")
    for _, rows in periods.sort(*order).group_by(SITUATION, maintain_order=True):
        yield [_row(row, known[_key(row)], more.get(_key(row), {})) for row in rows.sort("value").iter_rows(named=True)]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _KEY)


def _row(of: Mapping[str, Any], today: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    def us(metric: str, what: str = "value") -> float | None:
        return more[metric][what] / 1e3 if metric in more else None

    return {
        "over": of["over"] if of["over"] != "threads" else None,
        "where": _where(of),
        "ranks": of["ranks"],
        "threads": of["threads"] if of["threads"] > 1 else None,
        "cpus": of["processors"],
        "compute": of["computing"] if of["computing"] != "0" else None,
        "barrier": of["candidate"],
        "median_us": us("latency_ns"),
        "p99_us": us("latency_ns", "p99"),
        "period_us": of["value"] / 1e3,
        "low_us": of["low"] and of["low"] / 1e3,
        "high_us": of["high"] and of["high"] / 1e3,
        "fastest": of["ratio"],
        **_ends("fastest", of, "among"),
        "fastest_is": of["to"],
        "verdict": of["verdict"],
        "today": today["ratio"],
        **_ends("today", today, "ratio"),
        "today_is": today["to"],
        "least_us": us("least_ns"),
        "loop_mean_us": of["mean"] / 1e3,
        "inside_mean_us": us("inside_ns", "mean"),
        "call_us": us("call_ns"),
        "skew_us": us("skew_ns"),
        "alone_us": us("alone_latency_ns"),
        "cpu_us": us("cpu_ns"),
        "switches": more["switches"]["value"] if "switches" in more else None,
        "launches": of["launches"],
    }


def _ends(name: str, of: Mapping[str, Any], interval: str) -> dict[str, Any]:
    """The ends of a ratio's interval; that of a barrier to itself is 1 however few its launches are."""
    itself = of["to"] == of["candidate"]
    return {f"{name}_{end}": 1.0 if itself else of[f"{interval}_{end}"] for end in ("low", "high")}


def _where(of: Mapping[str, Any]) -> str:
    words = [f"{of['hosts']} hosts"] if of["hosts"] > 1 else []
    words += [f"on {of['kept_to']} CPU{'s' if of['kept_to'] > 1 else ''}"] if of["kept_to"] else []
    words += [neighbours.in_words(of["neighbours"])] if of["neighbours"] not in neighbours.ALONE else []
    words += ["a control group each"] if of["apart"] == "cgroups" else []
    words += [of["level"]] if of["level"] != "serialized" else []
    return ", ".join([*words, of["placement"]])

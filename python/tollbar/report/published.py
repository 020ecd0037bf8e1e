# SPDX-License-Identifier: Apache-2.0
"""Results that are committed: rows of some runs in a compressed file, and the pages that are filled from it.

A row is the median of a round, so that the file stays small; the statistics are about rounds and launches.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import polars as pl

from tollbar.data import results, samples
from tollbar.data.samples import CANDIDATE, PLACE, Samples
from tollbar.data.summary import rounds
from tollbar.report import beside_section, tables, times
from tollbar.report.charts import Line, time_text
from tollbar.report.figures import Figure

ROWS, ABOUT = "rows.parquet", "runs.json"
#: What tables are made of; all else is kept for whoever asks the file.
_METRICS = (
    "period_ns", "latency_ns", "skew_ns", "call_ns", "inside_ns", "alone_latency_ns", "cpu_ns", "switches",
    "turn_ns", "exchange_ns", "set_up_ns", "wake_ns", "one_way_ns", "yield_switch_ns",
)  # fmt: skip
#: Of threads only what users have today, and what tollbar offers instead.
_OF_THREADS = (
    "tollbar::barrier", "turnstile", "combination", "dissemination", "std::barrier", "pthread_barrier",
    "boost::barrier", "libgomp", "libomp",
)  # fmt: skip
_DRAWN = ("std::barrier", "pthread_barrier", "libgomp", "libomp", "tollbar::barrier")
_ALONE = (pl.col("bench") == "threads") & (pl.col("neighbours") == "alone")


#: The run of `tollbar bench threads --beside`, where one is stored.
_BESIDE = (
    "## Between threads, beside neighbours\n\n"
    "`tollbar bench threads --beside` measures plain programs: nothing puts them before others.\n"
    "A cell is a number of threads, pinned or free, with an amount of computing between two barriers; "
    "a turn is that computing and one barrier.\n"
    "The numbers are a turn over that of the best way to wait in the cell: the fastest of "
    "`tollbar::barrier` told to spin, yield or park, and of what users have today.\n"
    "Less than 1 is faster than the best of those.\n\n"
    "The median over the situations beside each kind of neighbours, and in brackets the worst cell:\n\n"
)


def add(runs: Iterable[Path], folder: Path) -> Samples:
    """As write(), but what is stored of other kinds of runs stays."""
    stored, runs = read(folder), list(runs)
    kinds = {results.read_environment(run).get("kind", "threads") for run in runs}
    found = write(runs, folder)
    kept = {name: facts for name, facts in stored.environments.items() if facts.get("kind", "threads") not in kinds}
    rows = stored.rows.filter(pl.col("run").is_in(list(kept)))
    _store(pl.concat([rows, found.rows]), {**kept, **found.environments}, folder)
    return read(folder)


def write(runs: Iterable[Path], folder: Path) -> Samples:
    """Stores the rounds of these runs there, and what is known of their machines; gives what was stored."""
    found = samples.read(runs)
    rows = rounds(found.records.filter(pl.col("metric").is_in(_METRICS)), [*PLACE, *CANDIDATE, "metric"])
    about = {name: _without_paths(facts) for name, facts in found.environments.items()}
    _store(rows.select(found.records.columns), about, folder)
    return read(folder)


def _store(rows: pl.DataFrame, about: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(folder / ROWS, compression="zstd", compression_level=19)
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _without_paths(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Where a launcher lies on that machine is nobody's business."""
    return {name: list(value) if isinstance(value, dict) else value for name, value in facts.items()}


def read(folder: Path) -> Samples:
    """What write() stored. Raises FileNotFoundError where nothing is."""
    rows = pl.read_parquet(folder / ROWS)
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return dataclasses.replace(samples.read([]), records=rows, environments=about)


def texts(found: Samples) -> dict[str, str]:
    """What stands between the marks of the pages, by the name of the mark."""
    by_bench = {
        bench: _of(found, (pl.col("bench") == bench) & (pl.col("neighbours") == "alone"))
        for bench in ("threads", "mpi", "hybrid", "shmem", "udp")
    }
    beside = _of(found, (pl.col("bench") == "threads") & (pl.col("neighbours") != "alone"))
    cells = beside_section.markdown(found)
    return {
        "machine": _machines(found),
        "threads": _table(by_bench["threads"]),
        "beside": _table(beside),
        "cells": f"{_BESIDE}{cells}\n" if cells else "",
        **{bench: _table(each) for bench, each in by_bench.items() if bench != "threads"},
        "summary": _summary(by_bench),
    }


def fill(page: str, found: Mapping[str, str]) -> str:
    """The page with each text between the marks of its name; texts without marks are for other pages."""
    for name, text in found.items():
        if (mark := f"<!-- results:{name} begin") not in page:
            continue
        first = page.index("\n", page.index(mark)) + 1
        page = f"{page[:first]}{text}{page[page.index(f'<!-- results:{name} end') :]}"
    return page


def _of(found: Samples, where: pl.Expr) -> Samples:
    usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
    shown = (pl.col("bench") != "threads") | pl.col("candidate").is_in([*_OF_THREADS, ""])
    return dataclasses.replace(found, records=found.records.filter(where & usual & shown))


def _machines(found: Samples) -> str:
    """Each machine once, and its runs."""
    runs: dict[str, list[str]] = {}
    for name, facts in found.environments.items():
        load = facts.get("load") or [None]
        told = f"{tables.machine_text(facts)}, {facts.get('kernel', 'an unknown kernel')}"
        when = f"`{name}` (load {load[0]:.2g} when it began)" if load[0] is not None else f"`{name}`"
        runs.setdefault(told, []).append(when)
    return "".join(f"{machine}: {', '.join(names)}.\n" for machine, names in runs.items()) + "\n"


def _rows(found: Samples) -> list[dict[str, Any]]:
    return [row for each in times.situations(found) for row in each]


def _table(found: Samples) -> str:
    rows = _rows(found)
    if not rows:
        return "Nothing is stored yet.\n"
    over, threads = any(row["over"] for row in rows), any(row["threads"] for row in rows)
    names = [*(["over"] if over else []), "where", "ranks", *(["threads"] if threads else [])]
    names += ["barrier", "an episode", "loop period", "times the fastest", f"times {rows[0]['today_is']}"]
    cells = (
        [
            *([row["over"] or ""] if over else []),
            row["where"],
            str(row["ranks"]),
            *([str(row["threads"] or 1)] if threads else []),
            row["barrier"],
            time_text(row["median_us"] * 1e3) if row["median_us"] else "",
            f"{time_text(row['period_us'] * 1e3)}{_between(row['low_us'], row['high_us'], _us)}",
            _fastest(row),
            _today(row),
        ]
        for row in rows
    )
    return tables.markdown_table(names, cells)


def _today(row: Mapping[str, Any]) -> str:
    if row["today"] is None:
        return ""
    if row["barrier"] == row["today_is"]:
        return "1"
    ends = _between(row["today_low"], row["today_high"], tables.times_text)
    return f"{tables.times_text(row['today'])}{ends}{_tie(row)}"


def _fastest(row: Mapping[str, Any]) -> str:
    verdict = "" if row["verdict"] == "slower" else row["verdict"]
    return ", ".join(filter(None, (tables.times_text(row["fastest"]), verdict)))


def _tie(row: Mapping[str, Any]) -> str:
    low, high = row["today_low"], row["today_high"]
    return ", tie" if low is not None and low <= 1 <= high else ""


def _us(us: float) -> str:
    return time_text(us * 1e3)


def _between(low: float | None, high: float | None, text: Any) -> str:
    return f" ({text(low)} to {text(high)})" if low is not None and high is not None else ""


def _summary(by_bench: Mapping[str, Samples]) -> str:
    """Three lines for the first page: threads, ranks, PEs."""
    asked = (
        ("threads", "tollbar::barrier", "`std::barrier`", "`tollbar::barrier`, by the number of threads"),
        ("mpi", "MPI_Barrier [component]", "Open MPI's `MPI_Barrier`", "with tollbar's component, by ranks"),
        ("shmem", "default", "`shmem_barrier_all`", "tollbar's split barrier, by PEs"),
    )
    lines = []
    for bench, barrier, today, ours in asked:
        best: dict[int, Mapping[str, Any]] = {}
        for row in _rows(by_bench[bench]):
            if row["barrier"] == barrier and row["today"] and "control group" not in row["where"]:
                best.setdefault(row["ranks"], row)
        told = [f"{ranks}: {_faster(row)}" for ranks, row in sorted(best.items())]
        if told:
            lines.append(f"* {today} takes so many times as long as {ours}: {'; '.join(told)}.\n")
    return "".join(lines)


def _faster(row: Mapping[str, Any]) -> str:
    """How many times as long what users have today takes."""
    low, high = (None if end is None else 1 / end for end in (row["today_high"], row["today_low"]))
    return f"{tables.times_text(1 / row['today'])}{_between(low, high, tables.times_text)}{_tie(row)}"


def picture(found: Samples) -> str:
    """Loop periods over the number of threads: what users have today, and tollbar's, as SVG text."""
    rows = [row for row in _rows(_of(found, _ALONE)) if row["where"] == "free" and row["threads"] is None]
    lines = []
    for name in _DRAWN:
        known = sorted((row["ranks"], 1e3 * row["period_us"]) for row in rows if row["barrier"] == name)
        x, y = (list(column) for column in zip(*known, strict=True))
        lines.append(Line(name, x, y))
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "results", "font.size": 11}):
        drawn = Figure("results", "", lines, "threads", "loop period").picture()
        drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    return text.getvalue()

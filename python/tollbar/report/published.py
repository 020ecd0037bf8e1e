# SPDX-License-Identifier: Apache-2.0
"""Results that are committed: rows of some runs in a compressed file, and the pages that are filled from it.

A row is the median of a round, so that the file stays small; the statistics are about rounds and launches.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tollbar.data import beside, results, samples
from tollbar.data.samples import CANDIDATE, PLACE, Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import rounds
from tollbar.machine import noise
from tollbar.report import beside_section, pictures, tables, times, today
from tollbar.report.charts import time_text
from tollbar.report.figures import Axis, Figure, Line

ROWS, ABOUT = "rows.parquet", "runs.json"
_NOTHING = "Nothing is stored yet.\n"
#: The columns that tables are made of; all else is kept for whoever asks the file.
_METRICS = (
    "period_ns", "latency_ns", "skew_ns", "call_ns", "inside_ns", "alone_latency_ns", "cpu_ns", "switches",
    "exchange_ns", "set_up_ns", "wake_ns", "one_way_ns", "yield_switch_ns",
)  # fmt: skip
#: The barriers of threads that are kept: what users have today, and what tollbar offers instead.
OF_THREADS = (
    "tollbar::barrier", "turnstile", "combination", "dissemination", "std::barrier", "pthread_barrier",
    "boost::barrier", "libgomp", "libomp", "pthread_door", "libgomp_door", "libomp_door",
)  # fmt: skip
_ON_NICS, _HOSTS = "MPI_Barrier [component on cards by choice]", 16
#: Rows of the first page, by their numbers of threads or ranks.
_ROWS_ALONE, _ROWS_BESIDE, _ROWS_OF_MPI = (2, 4, 8), 8, (4, 16)
_DRAWN = ("std::barrier", "pthread_barrier", "libgomp", "libomp", "tollbar::barrier")
_ALONE = (pl.col("bench") == "threads") & (pl.col("neighbours") == "alone")


@dataclass(frozen=True)
class Pair:
    """Today's barrier, and the one that stands in for it, in one situation; times in ns, and a ratio."""

    where: str
    today: str
    today_ns: float
    ours: str
    ours_ns: float
    times: Interval


def add(runs: Iterable[Path], folder: Path) -> Samples:
    """Stores these runs as write() does; what is stored of other kinds stays."""
    stored, runs = read(folder), list(runs)
    kinds = {results.read_environment(run).get("kind", "threads") for run in runs}
    added = write(runs, folder)
    kept = {name: facts for name, facts in stored.environments.items() if facts.get("kind", "threads") not in kinds}
    rows = stored.rows.filter(pl.col("run").is_in(list(kept)))
    _store(pl.concat([rows, added.rows]), {**kept, **added.environments}, folder)
    return read(folder)


def write(runs: Iterable[Path], folder: Path) -> Samples:
    """Stores the rounds of these runs there, and what is known of their machines; gives what was stored."""
    measured = samples.read(runs)
    rows = rounds(measured.records.filter(pl.col("metric").is_in(_METRICS)), [*PLACE, *CANDIDATE, "metric"])
    about = {name: _without_paths(facts) for name, facts in measured.environments.items()}
    _store(rows.select(measured.records.columns), about, folder)
    return read(folder)


def _store(rows: pl.DataFrame, about: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(folder / ROWS, compression="zstd", compression_level=19)
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def _without_paths(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without the paths of launchers, which are nobody's business."""
    return {name: list(value) if isinstance(value, dict) else value for name, value in facts.items()}


def read(folder: Path) -> Samples:
    """The rows that write() stored. Raises FileNotFoundError where there are none."""
    rows = pl.read_parquet(folder / ROWS)
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    return dataclasses.replace(samples.read([]), records=rows, environments=about)


def texts(stored: Samples) -> dict[str, str]:
    """The texts between the marks of the pages, by the name of the mark."""
    every, stored = stored, _quiet(stored)
    by_bench = {
        bench: _of(stored, (pl.col("bench") == bench) & (pl.col("neighbours") == "alone"))
        for bench in ("threads", "mpi", "hybrid", "shmem", "udp")
    }
    return {
        "machine": _machines(every),
        **{bench: _table(rows) or _nothing(every, bench) for bench, rows in by_bench.items()},
        "cells": beside_section.markdown(stored) or _nothing(every, "neighbours"),
        "brief": _brief(stored, by_bench),
        "summary": _summary(stored, by_bench),
    }


def _quiet(stored: Samples) -> Samples:
    """The rows of runs that may fill a page: their machine had nothing else to do, as far as it is known."""
    shut = [name for name, facts in stored.environments.items() if noise.loud(facts)]
    return dataclasses.replace(stored, records=stored.records.filter(~pl.col("run").is_in(shut)))


def _nothing(stored: Samples, kind: str) -> str:
    """The words in place of a table: which runs of that kind fill none, and why."""
    loud = [
        f"`{name}` ({', '.join(reasons)})"
        for name, facts in stored.environments.items()
        if facts.get("kind", "threads") == kind and (reasons := noise.loud(facts))
    ]
    return f"The machine had other work, so no table is made of {', '.join(loud)}.\n" if loud else _NOTHING


def fill(page: str, texts: Mapping[str, str]) -> str:
    """The page with each text between the marks of its name; texts without marks are for other pages."""
    for name, text in texts.items():
        if (mark := f"<!-- results:{name} begin") not in page:
            continue
        first = page.index("\n", page.index(mark)) + 1
        page = f"{page[:first]}{text}{page[page.index(f'<!-- results:{name} end') :]}"
    return page


def _of(stored: Samples, where: pl.Expr) -> Samples:
    usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
    shown = (pl.col("bench") != "threads") | pl.col("candidate").is_in([*OF_THREADS, ""])
    return dataclasses.replace(stored, records=stored.records.filter(where & usual & shown))


def _machines(stored: Samples) -> str:
    """Each machine once, and its runs."""
    runs: dict[str, list[str]] = {}
    for name, facts in stored.environments.items():
        parts = (tables.machine_text(facts), facts.get("revision"), facts.get("kernel", "an unknown kernel"))
        machine = ", ".join(part for part in parts if part)
        load = facts.get("load")
        when = f"load {load[0]:.2g} when it began" if load else "unknown load"
        if reasons := noise.loud(facts):
            when = f"{', '.join(reasons)}: fills no table"
        runs.setdefault(machine, []).append(f"`{name}` ({when})")
    return "".join(f"{machine}: {', '.join(names)}.\n" for machine, names in runs.items()) + "\n"


def _rows(stored: Samples) -> list[dict[str, Any]]:
    return [row for situation in times.situations(stored) for row in situation]


def _table(stored: Samples) -> str:
    rows = _rows(stored)
    if not rows:
        return ""
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
    few = f" ({tables.few_text(row['launches'])})"
    ends = _between(row["today_low"], row["today_high"], tables.times_text) or few
    return f"{tables.times_text(row['today'])}{ends}{_tie(row)}"


def _fastest(row: Mapping[str, Any]) -> str:
    verdict = "" if row["verdict"] == "slower" else row["verdict"]
    if row["fastest"] is None or row["fastest_is"] == row["barrier"]:
        return ", ".join(filter(None, (tables.times_text(row["fastest"]), verdict)))
    return ", ".join(filter(None, (tables.ratio_text(_over_fastest(row)), verdict)))


def _over_fastest(row: Mapping[str, Any]) -> Interval:
    return Interval(row["fastest"], row["fastest_low"], row["fastest_high"], row["launches"])


def _tie(row: Mapping[str, Any]) -> str:
    low, high = row["today_low"], row["today_high"]
    return ", tie" if low is not None and low <= 1 <= high else ""


def _tied(ratio: Interval) -> str:
    return ", tie" if ratio.low is not None and ratio.high is not None and ratio.low <= 1 <= ratio.high else ""


def _us(us: float) -> str:
    return time_text(us * 1e3)


def _between(low: float | None, high: float | None, text: Any) -> str:
    return f" ({text(low)} to {text(high)})" if low is not None and high is not None else ""


def _brief(stored: Samples, by_bench: Mapping[str, Samples]) -> str:
    """Sentences about all that is stored, a line each; made of the same numbers as the tables."""
    lines = [_sentence(text) for text in today.first(by_bench["threads"], by_bench["mpi"], stored).answer]
    lines += [_behind(by_bench["threads"])]
    if cells := beside.gather(stored):
        lines += beside_section.counted(cells)
    return "".join(f"* {line}\n" for line in lines if line)


def _sentence(text: str) -> str:
    """A sentence of the report, whose names of code have lost their marks."""
    marked = re.sub(r"(\w+::\w+|MPI_Barrier|pthread_barrier|libgomp|libomp)", r"`\1`", text)
    marked = marked.replace("\xa0", " ")
    return marked[0].upper() + marked[1:]


def _behind(stored: Samples) -> str:
    """The fastest barriers between free threads that are alone, and how far tollbar::barrier is behind."""
    parts = []
    for rows in times.situations(stored):
        ours = next((row for row in rows if row["barrier"] == today.OURS), None)
        if ours and ours["where"] == "free" and ours is not rows[0]:
            over = _over_fastest(ours)
            tie = ", a tie" if ours["verdict"] == "tie" else ""
            ratio = f"{tables.times_text(over.value)} \u00d7, {tables.interval_text(over)}{tie}"
            parts.append(f"`{rows[0]['barrier']}` with {ours['ranks']} ({ratio})")
    sentence = "Free threads that are alone have faster barriers than"
    return f"{sentence} `{today.OURS}`, which takes so many times as long: {', '.join(parts)}." if parts else ""


def _summary(stored: Samples, by_bench: Mapping[str, Samples]) -> str:
    """The table of the first page."""
    pairs = list(_pairs(stored, by_bench))
    if not pairs:
        return _NOTHING
    cells = (
        [
            pair.where,
            f"`{pair.today}` {time_text(pair.today_ns)}",
            f"`{pair.ours}` {time_text(pair.ours_ns)}",
            f"{tables.times_text(pair.times.value)} ({tables.interval_text(pair.times)}{_tied(pair.times)})",
            str(pair.times.count),
        ]
        for pair in pairs
    )
    return tables.markdown_table(["", "today", "tollbar", "times", "n"], cells)


def _pairs(stored: Samples, by_bench: Mapping[str, Samples]) -> Iterator[Pair]:
    """The rows of the first page, of what is stored."""
    for rows in times.situations(by_bench["threads"]):
        if rows[0]["where"] == "free" and rows[0]["ranks"] in _ROWS_ALONE:
            yield from _pair(rows, f"{rows[0]['ranks']} threads", [today.OURS])
    gathered = beside.gather(stored)
    cells = {
        (place.ranks, place.placement, place.work): measured
        for place, measured in gathered.items()
        if place.neighbours == "1 neighbour"
    }
    peer = today.TODAY[0]
    measured = cells.get((_ROWS_BESIDE, "free", "0 µs"))
    ratio = beside.ratios(gathered, peer, today.OURS, "free")
    if measured and _ROWS_BESIDE in ratio:
        known = [beside.turn_ns(measured, label) for label in (peer, today.OURS)]
        where = f"{_ROWS_BESIDE} threads beside a busy neighbour"
        yield Pair(where, peer, known[0], today.OURS, known[1], ratio[_ROWS_BESIDE])
    for rows in times.situations(by_bench["mpi"]):
        if rows[0]["ranks"] in _ROWS_OF_MPI and rows[0]["where"] == "free":
            yield from _pair(rows, f"{rows[0]['ranks']} ranks of {rows[0]['over']}", list(today.DOORS))
    for rows in times.situations(by_bench["udp"]):
        if rows[0]["ranks"] == _HOSTS:
            yield from _pair(rows, f"{_HOSTS} hosts of Open MPI, on their NICs", [_ON_NICS])


def _pair(rows: Sequence[Mapping[str, Any]], where: str, names: Sequence[str]) -> Iterator[Pair]:
    """The first barrier of those names that was measured, against what users have today."""
    known = {row["barrier"]: row for row in rows if row["today"]}
    ours = next((known[name] for name in names if name in known), None)
    if ours is None:
        return
    base = next(row for row in rows if row["barrier"] == ours["today_is"])
    value, low, high = (ours[f"today{end}"] and 1 / ours[f"today{end}"] for end in ("", "_high", "_low"))
    times_ns = [1e3 * row["period_us"] for row in (base, ours)]
    ratio = Interval(value, low, high, min(row["launches"] for row in (base, ours)))
    yield Pair(where, base["barrier"], times_ns[0], ours["barrier"], times_ns[1], ratio)


def drawings(stored: Samples) -> dict[str, str]:
    """The SVG text of each picture, by the name of its file."""
    return {"results-threads.svg": pictures.svg(pictures.picture(_curves(stored)), "results")}


def _curves(stored: Samples) -> Figure:
    """Loop periods over the number of threads: what users have today, and tollbar's."""
    rows = [row for row in _rows(_of(stored, _ALONE)) if row["where"] == "free" and row["threads"] is None]
    lines = []
    for name in _DRAWN:
        known = sorted((row["ranks"], 1e3 * row["period_us"]) for row in rows if row["barrier"] == name)
        x, y = (list(column) for column in zip(*known, strict=True))
        lines.append(Line(name, x, y))
    return Figure("results", "", lines, Axis("threads"), Axis("loop period", "log", "ns"))

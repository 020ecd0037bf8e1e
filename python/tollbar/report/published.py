# SPDX-License-Identifier: Apache-2.0
"""Results that are committed: rows of some runs in a compressed file, and the pages that are filled from it.

A row is the median of a round, so that the file stays small; the statistics are about rounds and launches.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from tollbar.backports import zip_equal
from tollbar.data import cells as cells_of
from tollbar.data import places, results, samples
from tollbar.data.samples import CANDIDATE, PLACE, Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import rounds
from tollbar.machine import noise
from tollbar.report import compared, heat, pictures, tables, threads_section, times, today
from tollbar.report.compared import Pair
from tollbar.report.figures import Axis, Curve, Figure

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
#: Rows of the first page, by their numbers of threads or ranks, and the fewest launches that such a row has.
_ROWS, _LAUNCHES = {"threads": (2, 4, 8), "neighbours": (8,), "mpi": (4, 16), "udp": (16,)}, 12
_ENDS = {"neighbours": " beside a busy neighbour"}
_COUNT = re.compile(r"(\d+) / (\d+) / (\d+)")  #: certainly, possibly, of all
_DRAWN = ("std::barrier", "pthread_barrier", "libgomp", "libomp", "tollbar::barrier")


def add(runs: Iterable[Path], folder: Path) -> Samples:
    """Stores these runs as write() does; what is stored of other processors and about other things stays."""
    stored, runs = read(folder), list(runs)
    renewed = {_about_what(results.read_environment(run)) for run in runs}
    added = write(runs, folder)
    kept = {name: facts for name, facts in stored.environments.items() if _about_what(facts) not in renewed}
    rows = stored.rows.filter(pl.col("run").is_in(list(kept)))
    _store(pl.concat([rows, added.rows]), {**kept, **added.environments}, folder)
    return read(folder)


def _about_what(facts: Mapping[str, Any]) -> tuple[str, str, results.About]:
    return tables.machine_text(facts), facts.get("kind", "threads"), results.about(facts)


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
    machines = compared.by_machine(stored)
    pairs = {machine: compared.pairs(measured) for machine, measured in machines.items()}
    tables = {
        bench: compared.table({machine: known.get(bench, ()) for machine, known in pairs.items()})
        for bench in compared.BENCHES
    }
    counts = [_of_machine(machine, threads_section.counts(measured), pairs) for machine, measured in machines.items()]
    return {
        "machine": _machines(stored),
        **{bench: text or _nothing(stored, bench) for bench, text in tables.items()},
        "cells": "\n".join(filter(None, counts)) or _nothing(stored, "neighbours"),
        "brief": _brief(machines, pairs),
        "summary": compared.table({machine: _first_page(known) for machine, known in pairs.items()}, _LAUNCHES)
        or _NOTHING,
    }


def _of_machine(machine: str, counts: str, among: Collection[str]) -> str:
    """The table of a machine; beside another one's a line takes its place where no cell is certain."""
    if len(among) > 1 and all(certain == "0" and left == every for certain, left, every in _COUNT.findall(counts)):
        return f"{machine}: too few launches a cell to be certain of any.\n" if counts else ""
    return f"{machine}:\n\n{counts}" if counts else ""


def _first_page(pairs: Mapping[str, Sequence[Pair]]) -> list[Pair]:
    """The rows of README.md, however they turned out."""
    return [
        pair
        for bench, numbers in _ROWS.items()
        for pair in pairs.get(bench, ())
        if "pinned" not in pair.where
        and int(pair.where.split()[0]) in numbers
        and pair.where.endswith(_ENDS.get(bench, ""))
    ]


def _nothing(stored: Samples, bench: str) -> str:
    """The words in place of a table: which runs of that bench fill none, and why."""
    kind = "threads" if bench == "neighbours" else bench
    loud = [
        f"`{name}` ({', '.join(reasons)})"
        for name, facts in stored.environments.items()
        if facts.get("kind", "threads") == kind
        and bool(facts.get("beside")) is (bench == "neighbours")
        and (reasons := noise.loud(facts))
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


def _machines(stored: Samples) -> str:
    """Each machine once, and its runs."""
    runs: dict[str, list[str]] = {}
    for name, facts in stored.environments.items():
        load = facts.get("load")
        when = f"load {load[0]:.2g} when it began" if load else "unknown load"
        if reasons := noise.loud(facts):
            when = f"{', '.join(reasons)}: fills no table"
        runs.setdefault(compared.machine_of(facts), []).append(f"`{name}` ({when})")
    return "".join(f"* {machine}: {', '.join(names)}.\n" for machine, names in runs.items())


def _brief(machines: Mapping[str, Samples], pairs: Mapping[str, Mapping[str, Sequence[Pair]]]) -> str:
    """Sentences about all that is stored, made of the same numbers as the tables; several of a machine share a line."""
    lines: list[str] = []
    for machine, measured in machines.items():
        alone = _of(measured, (pl.col("bench") == "threads") & places.IS_PLAIN)
        said = today.first(_of(measured, pl.col("bench") == "threads"), _of(measured, pl.col("bench") == "mpi")).answer
        said = [*map(_sentence, said), _behind(alone)]
        if there := cells_of.gather(measured):
            said += threads_section.counted(there)
        said = [line for line in said if line]
        causes = list(compared.causes(measured))
        ratios = [line for line in said if line.startswith("With ")]
        groups = (ratios, [line for line in said if line not in ratios], causes)
        name = machine.partition(",")[0]
        lines += [*said, *causes] if len(machines) == 1 else [f"{name}: {' '.join(some)}" for some in groups if some]
    lines += compared.differences({machine: [*chain(*known.values())] for machine, known in pairs.items()})
    return "".join(f"* {line}\n" for line in lines)


def _of(measured: Samples, which: pl.Expr) -> Samples:
    """The rows of a bench alone, of barriers that wait as usual."""
    usual = ~pl.col("wait").is_in(["park", "spin", "yield"])
    return dataclasses.replace(measured, records=measured.records.filter(which & usual))


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
            over = Interval(ours["fastest"], ours["fastest_low"], ours["fastest_high"], ours["launches"])
            tie = ", a tie" if ours["verdict"] == "tie" else ""
            ratio = f"{tables.times_text(over.value)} \u00d7, {tables.interval_text(over)}{tie}"
            parts.append(f"`{rows[0]['barrier']}` with {ours['ranks']} ({ratio})")
    sentence = "Free threads that are alone have faster barriers than"
    return f"{sentence} `{today.OURS}`, which takes so many times as long: {', '.join(parts)}." if parts else ""


#: The columns of the file of all cells, of a row of times.situations().
_CELLS = (
    "over", "where", "ranks", "threads", "cpus", "compute", "barrier", "launches", "median_us", "period_us",
    "low_us", "high_us", "fastest", "fastest_low", "fastest_high", "verdict", "today_is", "today", "today_low",
    "today_high", "switches",
)  # fmt: skip


def cells(stored: Samples) -> str:
    """Every barrier in every situation of each machine, as CSV; numbers to four digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["machine", *_CELLS])
    usual = ~pl.col("wait").is_in(["park", "spin", "yield"]) | ((pl.col("bench") == "threads") & ~places.IS_PLAIN)
    for machine, measured in compared.by_machine(stored).items():
        for rows in times.situations(dataclasses.replace(measured, records=measured.records.filter(usual))):
            writer.writerows([machine.partition(",")[0], *(_digits(row[name]) for name in _CELLS)] for row in rows)
    return out.getvalue()


def _digits(value: Any) -> Any:
    return f"{value:.4g}" if isinstance(value, float) else value


def drawings(stored: Samples) -> dict[str, str]:
    """The SVG text of each picture, by the name of its file: of the machine that was stored first."""
    machine, measured = next(iter(compared.by_machine(stored).items()))
    title = f"{today.OURS} over {today.TODAY[0]}, {machine.partition(',')[0]}"
    return {
        "results-threads.svg": pictures.svg(pictures.picture(_curves(measured)), "results"),
        "results-cells.svg": heat.cells(title, _over_today(measured)),
    }


def _over_today(measured: Samples) -> dict[tuple[str, str], Interval]:
    """Every cell beside neighbours: a turn of tollbar::barrier over one of the standard's, by row and column."""
    return {
        (f"{place.among}, {place.work}", f"{place.ranks} {place.placement}"): ratio
        for place, known in cells_of.gather(measured).items()
        if (ratio := cells_of.ratio(known, today.OURS, today.TODAY[0]))
    }


def _curves(measured: Samples) -> Figure:
    """Loop periods over the number of threads: what users have today, and tollbar's."""
    rows = [
        row for of in times.situations(_of(measured, (pl.col("bench") == "threads") & places.IS_PLAIN)) for row in of
    ]
    lines = []
    for name in _DRAWN:
        of_name = [row for row in rows if (row["barrier"], row["where"]) == (name, "free")]
        known = sorted((row["ranks"], 1e3 * row["period_us"]) for row in of_name)
        x, y = (list(column) for column in zip_equal(*known))
        lines.append(Curve(name, x, y))
    return Figure("results", "", lines, Axis("threads"), Axis("loop period", "log", "ns"))

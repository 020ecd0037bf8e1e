# SPDX-License-Identifier: Apache-2.0
"""Turns a stored run into one page that needs nothing else: figures, tables and the numbers to download."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from tollbar.data import choice, places, samples, schema, statistics
from tollbar.data.results import Stored
from tollbar.data.statistics import Interval
from tollbar.report import beside_section, candidates, crowd_section, curves, html, sections, tables, today
from tollbar.report.figures import Figure

MOST_BYTES = 1_500_000  #: of a page, for a phone
_FEWEST_POINTS = 3
#: Kinds of which one run is shown.
_SHOWN = {"crowd": slice(1), "shmem": slice(-1, None), "udp": slice(-1, None)}
_DOWNLOADS = Markup("<!-- downloads -->")  # take the room that is left
_WHERE = ("group", "program", "placement", "ranks")
_EPISODES = (
    "round", "name", "kind", "wait", "episodes", "latency_p50_ns", "latency_p95_ns", "latency_p99_ns",
    "latency_max_ns", "skew_p50_ns", "span_p50_ns",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Pages:
    """The report, and files that are too big to stand in it."""

    report: str
    beside: Mapping[str, bytes]
    folder: str  #: of those files
    answer: Sequence[str]  #: the sentences of the first screen, for a terminal


class LeftOut:
    """Counts what would say nothing: figures with hardly a point, and ratios that may be anything."""

    def __init__(self, ratios: int = 0) -> None:
        self.figures, self.ratios = 0, ratios

    def enough(self, figure: Figure) -> bool:
        """Whether the figure has a curve of three points."""
        thin = figure.points < _FEWEST_POINTS
        self.figures += thin and figure.points > 0
        return not thin

    def ratio(self, found: Interval | None) -> str:
        """The ratio as text; a dash for one whose interval spans 1 by orders of magnitude."""
        if found is None:
            return ""
        if tables.wild(found):
            self.ratios += 1
            return "\u2013"
        return f"{tables.times_text(found.value)} \u00d7"


@dataclasses.dataclass(frozen=True)
class File:
    """Something to download."""

    name: str
    what: str
    kind: str
    content: bytes


def page(*runs: Stored) -> str:
    """The report alone, as `pages` has it."""
    return pages(*runs).report


def pages(*runs: Stored, name: str = "report.html") -> Pages:
    """One run of threads at most, and others; the machine told is the first one's. `name`: of the report."""
    of_kind: dict[str, list[Stored]] = defaultdict(list)
    for each in runs:
        of_kind[kind_of(each)].append(each)
    found = {kind: samples.gather(each[_SHOWN.get(kind, slice(None))]) for kind, each in of_kind.items()}
    of_threads = found.get("threads") or samples.gather([])
    there = places.threads(of_threads)
    choices = [chosen for each in there.values() if (chosen := choice.choose(each)) is not None]
    first = today.first(of_threads, found.get("mpi"), choices, found.get("neighbours"))
    left_out = LeftOut(first.left_out)
    stem = name.rpartition(".")[0] or name
    folder = f"{stem}-files"
    shared = {
        "run": runs[0],
        "machine": defaultdict(lambda: None, runs[0].environment),  # an interrupted run knows less of itself
        "folder": folder,
        "of_ranks": sections.processes(found.get("mpi")),
        "of_threads": sections.processes(found.get("hybrid")),
        "shmem": sections.shmem(found.get("shmem")),
        "left_out": left_out,
    }
    filters = {"times": tables.times_text, "interval": _interval, "ratio": left_out.ratio, "enough": left_out.enough}
    text = html.render(
        "report.html.j2",
        filters,
        **shared,
        first=first,
        advice=tables.advice(choices),
        apart=tables.apart(of_threads),
        waits=tables.waits(of_threads),
        choices=[(chosen, tables.gains(there[chosen.situation], chosen.pick)) for chosen in choices],
        peers=candidates.PEERS,
        placements=list(dict.fromkeys(place.placement for place in there)),
        figures=curves.of_threads(there),
        crowded=tables.crowded(there),
        everything=tables.everything(there.values()),
        beside=beside_section.of(found["neighbours"]) if "neighbours" in found else None,
        crowd=crowd_section.of(found["crowd"]) if "crowd" in found else None,
        udp=sections.udp(found.get("udp")),
        launches=tables.launches(there),
        versions={
            name: value
            for name, value in found[kind_of(runs[0])].facts.get(runs[0].folder.name, {}).items()
            if name not in runs[0].environment
        },
        downloads=_DOWNLOADS,
    )
    files = [file for each in runs for file in downloads(each, "" if each is runs[0] else f"{each.folder.name}-")]
    links, beside = _links(files, MOST_BYTES - len(text.encode()), folder)
    text = text.replace(_DOWNLOADS, html.render("downloads.html.j2", {}, files=links, run=runs[0]))
    return Pages(text, beside, folder, first.answer)


def _interval(found: Interval | None) -> str:
    return "" if tables.wild(found) else tables.interval_text(found)


def kind_of(run: Stored) -> str:
    """The kind that was measured: threads, neighbours, crowd, mpi, hybrid, shmem, udp."""
    return str(run.environment.get("kind") or "threads")


def downloads(run: Stored, prefix: str = "") -> list[File]:
    """Every table, the machine, and everything that was measured."""
    tables_of = [
        ("batches.csv", "every timed batch", lambda each: records_csv(each, "batch")),
        ("episodes.csv", "quantiles of the stamped episodes", episodes_csv),
    ]
    if kind_of(run) == "neighbours":
        turns = ("turns.csv", "every timed round of turns", lambda each: records_csv(each, "turns", "company"))
        tables_of = [turns]
    what = f" ({kind_of(run)})" if prefix else ""
    files = [File(prefix + name, told + what, "text/csv", text(run).encode()) for name, told, text in tables_of]
    machine = json.dumps(run.environment, indent=2).encode()
    files.append(File(f"{prefix}environment.json", f"the machine and the run{what}", "application/json", machine))
    # gzip files one after another are one gzip file
    lines = b"".join(path.read_bytes() for path in sorted(run.folder.glob("*.jsonl.gz")))
    told = f"every line that was measured{what}"
    files.append(File(f"{prefix}samples.jsonl.gz", told, "application/gzip", lines))
    return files


def _links(files: Sequence[File], room: int, folder: str) -> tuple[list[tuple[File, Markup]], dict[str, bytes]]:
    """The address of each file: the smallest stand in the page while there is room, others in the folder."""
    addresses: dict[str, Markup] = {}
    beside: dict[str, bytes] = {}
    for file in sorted(files, key=lambda each: len(each.content)):
        room -= 4 * -(-len(file.content) // 3) + 2 * len(file.name) + len(file.what) + 200
        if room >= 0:
            addresses[file.name] = html.address(file.content, file.kind)
        else:
            addresses[file.name] = Markup("{}/{}").format(folder, file.name)
            beside[file.name] = file.content
    return [(file, addresses[file.name]) for file in files], beside


def episodes_csv(run: Stored) -> str:
    """The quantiles of each candidate's stamped episodes in each round of each launch."""
    rows = []
    for where, each in _records(run, "episodes"):
        if each["latency_ns"]:
            latency = statistics.quantiles(each["latency_ns"], (0.5, 0.95, 0.99, 1.0))
            others = [statistics.quantiles(each[name], (0.5,))[0] for name in ("skew_ns", "span_ns")]
            label = [each[name] for name in ("round", "name", "kind", "wait")]
            rows.append([*where, *label, len(each["latency_ns"]), *latency, *others])
    return _csv([*_WHERE, *_EPISODES], rows)


def records_csv(run: Stored, kind: str, *more: str) -> str:
    """Every record of a kind; `more`: what else the launches say of where."""
    names = schema.fields(kind)
    rows = [[*where, *(each.get(name) for name in names)] for where, each in _records(run, kind, *more)]
    return _csv([*_WHERE, *more, *names], rows)


def _records(run: Stored, kind: str, *more: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for group, program, launch in run.launches:
        told = launch.environment
        where = [group, program, *(told.get(name) for name in (*_WHERE[2:], *more))]
        yield from ((where, record) for record in launch.records.get(kind, ()))


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()

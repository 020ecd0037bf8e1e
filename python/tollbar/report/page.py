# SPDX-License-Identifier: Apache-2.0
"""Turns a stored run into one page that needs nothing else: figures, tables and the numbers to download."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from tollbar.data import samples
from tollbar.data.results import Stored
from tollbar.data.statistics import Interval
from tollbar.report import candidates, html, sections, tables, threads_section, today
from tollbar.report.figures import Figure

MOST_BYTES = 1_500_000  #: of a page, for a phone
_FEWEST_POINTS = 3
#: Kinds of which one run is shown.
_SHOWN = {"shmem": slice(-1, None), "udp": slice(-1, None)}
_DOWNLOADS = Markup("<!-- downloads -->")  # take the room that is left


@dataclasses.dataclass(frozen=True)
class Pages:
    """The report, and files that are too big to stand in it."""

    report: str
    beside: Mapping[str, bytes]
    folder: str  #: of those files
    answer: Sequence[str]  #: the sentences of the first screen, for a terminal


class LeftOut:
    """Counts the figures that have hardly a point."""

    def __init__(self) -> None:
        self.figures = 0

    def enough(self, figure: Figure) -> bool:
        """True for a figure with a curve of three points."""
        thin = figure.points < _FEWEST_POINTS
        self.figures += thin and figure.points > 0
        return not thin


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


def pages(*runs: Stored, name: str | None = "report.html", stored: Mapping[today.Where, str] | None = None) -> Pages:
    """All runs, of threads the newest in each situation; the machine shown is the first one's.

    `name` is that of the report, None if nothing can lie beside it; `stored` are the plans that the library finds for
    groups of threads.
    """
    by_kind: dict[str, list[Stored]] = defaultdict(list)
    for run in runs:
        by_kind[kind_of(run)].append(run)
    gathered = {kind: samples.gather(of_kind[_SHOWN.get(kind, slice(None))]) for kind, of_kind in by_kind.items()}
    of_threads = samples.newest(gathered["threads"]) if "threads" in gathered else samples.gather([])
    first = today.first(of_threads, gathered.get("mpi"), stored)
    left_out = LeftOut()
    machine = runs[0].environment
    versions = gathered[kind_of(runs[0])].facts.get(runs[0].folder.name, {})
    text = html.render(
        "report.html.j2",
        {
            "times": tables.times_text,
            "interval": tables.interval_text,
            "ratio": _ratio,
            "whole": _whole,
            "enough": left_out.enough,
        },
        machine=defaultdict(lambda: None, machine),  # an interrupted run knows less of itself
        versions={name: value for name, value in versions.items() if name not in machine},
        first=first,
        threads=threads_section.of(of_threads),
        peers=candidates.PEERS,
        of_ranks=sections.processes(gathered.get("mpi")),
        of_threads=sections.processes(gathered.get("hybrid")),
        shmem=sections.shmem(gathered.get("shmem")),
        udp=sections.udp(gathered.get("udp")),
        left_out=left_out,
        downloads=_DOWNLOADS,
    )
    files = [file for run in runs for file in downloads(run, "" if run is runs[0] else f"{run.folder.name}-")]
    folder = f"{name.rpartition('.')[0] or name}-files" if name else ""
    room = MOST_BYTES - len(text.encode()) if name else math.inf
    links, beside = _links(files, room, folder)
    text = text.replace(_DOWNLOADS, html.render("downloads.html.j2", {}, files=links, run=runs[0]))
    return Pages(text, beside, folder, first.answer)


def _ratio(ratio: Interval | None) -> str:
    return "" if ratio is None else f"{tables.times_text(ratio.value)} \u00d7"


def _whole(ratio: Interval | None) -> str:
    return "" if ratio is None else f"{_ratio(ratio)} ({tables.interval_text(ratio)})"


def kind_of(run: Stored) -> str:
    """The kind that was measured: threads, mpi, hybrid, shmem, udp."""
    return str(run.environment.get("kind") or "threads")


def downloads(run: Stored, prefix: str = "") -> list[File]:
    """The files of a run: the machine, and every line that was measured."""
    what = f" ({kind_of(run)})" if prefix else ""
    machine = json.dumps(run.environment, indent=2).encode()
    # gzip files one after another are one gzip file
    lines = b"".join(path.read_bytes() for path in sorted(run.folder.glob("*.jsonl.gz")))
    return [
        File(f"{prefix}environment.json", f"the machine and the run{what}", "application/json", machine),
        File(f"{prefix}samples.jsonl.gz", f"every line that was measured{what}", "application/gzip", lines),
    ]


def _links(files: Sequence[File], room: float, folder: str) -> tuple[list[tuple[File, Markup]], dict[str, bytes]]:
    """The address of each file: the smallest stand in the page while there is room, others in the folder."""
    addresses: dict[str, Markup] = {}
    beside: dict[str, bytes] = {}
    for file in sorted(files, key=lambda file: len(file.content)):
        room -= 4 * -(-len(file.content) // 3) + 2 * len(file.name) + len(file.what) + 200
        if room >= 0:
            addresses[file.name] = html.address(file.content, file.kind)
        else:
            addresses[file.name] = Markup("{}/{}").format(folder, file.name)
            beside[file.name] = file.content
    return [(file, addresses[file.name]) for file in files], beside

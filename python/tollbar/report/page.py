# SPDX-License-Identifier: Apache-2.0
"""Turns a stored run into one page that needs nothing else: figures, tables and the numbers to download."""

from __future__ import annotations

import base64
import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from tollbar.data import choice, places, samples, schema, statistics
from tollbar.data.places import Here, Place
from tollbar.data.results import Stored
from tollbar.data.samples import Samples
from tollbar.report import (
    candidates,
    crowd_section,
    curves,
    executions,
    nic_section,
    plots,
    sections,
    tables,
    targets,
)
from tollbar.report.plots import time_text

_MOST_SAMPLES = 2_000_000  # a page for a phone
_WHERE = ("group", "program", "placement", "ranks")
_EPISODES = (
    "round", "name", "kind", "wait", "episodes", "latency_p50_ns", "latency_p95_ns", "latency_p99_ns",
    "latency_max_ns", "skew_p50_ns", "span_p50_ns",
)  # fmt: skip


def page(*runs: Stored) -> str:
    """The whole report: one run of threads at most, and others; the machine told is the first one's."""
    of_kind: dict[str, list[Stored]] = defaultdict(list)
    for each in runs:
        of_kind[kind_of(each)].append(each)
    run = runs[0]
    found = {kind: samples.gather(each) for kind, each in of_kind.items()}
    of_threads = found.get("threads") or samples.gather([])
    there = places.threads(of_threads)
    choices = [chosen for each in there.values() if (chosen := choice.choose(each)) is not None]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"time": time_text, "times": tables.times_text, "interval": tables.interval_text}
    return environment.get_template(
        "report.html.j2"
    ).render(
        run=run,
        machine=defaultdict(lambda: None, run.environment),  # an interrupted run knows less of itself
        advice=tables.advice(choices),
        short=tables.short(there),
        apart=tables.apart(of_threads),
        waits=tables.waits(of_threads),
        choices=[(chosen, tables.gains(there[chosen.situation], chosen.pick)) for chosen in choices],
        peers=candidates.PEERS,
        placements=list(dict.fromkeys(place.placement for place in there)),
        figures=figures(there),
        heat={placement: tables.heat(there, placement) for placement in ("pinned", "free")},
        crowded=tables.crowded(there),
        uneven=uneven(there),
        executions=[(caption, Markup(svg)) for caption, svg in executions.examples()] if there else [],
        targets=targets.evaluate(of_threads),
        everything=tables.everything(there),
        crowd=crowd_section.section(samples.gather(of_kind["crowd"][:1])) if "crowd" in found else None,
        of_ranks=sections.processes(found.get("mpi")),
        of_threads=sections.processes(found.get("hybrid")),
        shmem=sections.shmem(_newest(of_kind["shmem"])),
        udp=sections.udp(_newest(of_kind["udp"])),
        nic=nic_section.of(_newest(of_kind["udp"]), found.get("work")),
        downloads=[
            file for each in runs for file in downloads(each, "" if each is run else each.folder.name)
        ],
        launches=tables.launches(there),
        versions={
            name: value
            for name, value in samples.gather([run]).told[run.folder.name].items()
            if name not in run.environment
        },
    )


def _newest(runs: Sequence[Stored]) -> Samples | None:
    return samples.gather(runs[-1:]) if runs else None


def figures(there: Mapping[Place, Here]) -> dict[str, Markup]:
    """Every figure by name; an empty one where its candidates were not measured."""
    placed = {
        placement: {place.ranks: here for place, here in there.items() if place.placement == placement}
        for placement in ("pinned", "free")
    }
    met = places.names(there.values())

    def find(name: str, wait: str | None = "auto") -> list[places.Candidate]:
        return [each for each in met if each.name == name and wait in (None, each.wait)][:1]

    own = sorted(
        (each for each in met if each.kind in choice.OWN and each.wait == "auto"),
        key=lambda each: choice.OWN.index(each.kind),
    )
    users = [each for name in ("tollbar::barrier", *candidates.PEERS) for each in find(name, None)]
    turnstile, mcs, combination = find("turnstile"), find("mcs"), find("combination")
    near = [*turnstile, *combination, *mcs, *users]
    waits = [each for wait in ("auto", "yield", "park") for each in find("turnstile", wait)]
    made = {
        name: _figure(name, curves.in_placements(placed, some), "latency")
        for name, some in (("fig7", turnstile), ("fig8", mcs), ("fig9", turnstile + mcs))
    }
    for placement, along in placed.items():
        crowded = {ranks: here for ranks, here in along.items() if here.place.crowded}
        busy = curves.several(crowded, [*waits, *combination, *users], "period_ns")
        bound = curves.floor(along, "bound B(N)", crowded_only=True) if busy else []
        floor = curves.floor(along)
        for name, lines, ylabel in (
            ("own", curves.several(along, own, "latency_ns") + floor, "latency"),
            ("users", curves.several(along, users, "period_ns") + floor, "loop period"),
            ("floor", curves.several(along, near, "over_floor"), "times the floor"),
            ("skew", curves.several(along, near, "skew_ns"), "exit skew"),
            ("crowded", busy + bound, "loop period"),
        ):
            made[f"{name}-{placement}"] = _figure(f"{name}-{placement}", lines, ylabel)
    return made


def _figure(name: str, lines: Sequence[plots.Line], ylabel: str) -> Markup:
    times = ylabel != "times the floor"
    return Markup(plots.against(name, lines, ylabel, times) if lines else "")


def uneven(there: Mapping[Place, Here]) -> list[tuple[Place, Markup]]:
    """Distributions of uneven episodes: the smallest situation with and without processors to spare."""
    shown: dict[tuple[str, bool], tuple[Place, Markup]] = {}
    for place, here in there.items():
        key = place.placement, place.crowded
        if key not in shown and (found := curves.modes(here)):
            name = f"modes-{place.placement}-{place.ranks}"
            shown[key] = place, Markup(plots.distribution(name, found, candidates.colours(found), "latency"))
    return list(shown.values())


def kind_of(run: Stored) -> str:
    """What was measured: threads, crowd, mpi, hybrid, shmem, udp, work."""
    return str(run.environment.get("kind") or "threads")


def downloads(run: Stored, prefix: str = "") -> list[tuple[str, str, Markup]]:
    """Name, what it is, and the address that holds the data itself."""
    files = [
        ("batches.csv", "every timed batch", _uri("text/csv", records_csv(run, "batch").encode())),
        ("episodes.csv", "quantiles of the stamped episodes", _uri("text/csv", episodes_csv(run).encode())),
        (
            "environment.json",
            "the machine and the run",
            _uri("application/json", json.dumps(run.environment, indent=2).encode()),
        ),
    ]
    if kind_of(run) == "work":
        files[:2] = [
            ("work.csv", "every run of a workload", _uri("text/csv", records_csv(run, "work").encode()))
        ]
    stored = sorted(run.folder.glob("*.jsonl.gz"))
    if sum(path.stat().st_size for path in stored) <= _MOST_SAMPLES:
        samples = b"".join(
            path.read_bytes() for path in stored
        )  # gzip files one after another are one gzip file
        files.append(("samples.jsonl.gz", "every line that was measured", _uri("application/gzip", samples)))
    if not prefix:
        return files
    return [(f"{prefix}-{name}", f"{what} ({kind_of(run)})", address) for name, what, address in files]


def _uri(kind: str, content: bytes) -> Markup:
    return Markup(f"data:{kind};base64,{base64.b64encode(content).decode()}")


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


def records_csv(run: Stored, kind: str) -> str:
    """Every record of a kind."""
    names = schema.fields(kind)
    rows = [[*where, *(each.get(name) for name in names)] for where, each in _records(run, kind)]
    return _csv([*_WHERE, *names], rows)


def _records(run: Stored, kind: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for group, program, launch in run.launches:
        where = [group, program, launch.environment["placement"], launch.environment["ranks"]]
        yield from ((where, record) for record in launch.records.get(kind, ()))


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()

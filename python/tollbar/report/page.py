# SPDX-License-Identifier: Apache-2.0
"""Turns a stored run into one page that needs nothing else: figures, tables and the numbers to download."""

from __future__ import annotations

import base64
import csv
import dataclasses
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup

from tollbar.data import choice, comparison, statistics
from tollbar.data.comparison import Comparison, Situation
from tollbar.data.records import Batch, Working
from tollbar.data.results import Run
from tollbar.report import (
    crowd_section,
    curves,
    executions,
    mpi_section,
    nic_section,
    shmem_section,
    tables,
    targets,
    udp_section,
)
from tollbar.report.plots import distribution, time_text

Comparisons = Mapping[Situation, Comparison]

_MOST_SAMPLES = 2_000_000  # a page for a phone
_WHERE = ("group", "program", "placement", "ranks")
_EPISODES = (
    "round", "name", "kind", "wait", "episodes", "latency_p50_ns", "latency_p95_ns", "latency_p99_ns",
    "latency_max_ns", "skew_p50_ns", "span_p50_ns",
)  # fmt: skip
_BATCH = tuple(field.name for field in dataclasses.fields(Batch))
_WORK = tuple(field.name for field in dataclasses.fields(Working))


def page(*runs: Run) -> str:
    """The whole report: one run of threads at most, and others; the machine told is the first one's."""
    of_kind: dict[str, list[Run]] = defaultdict(list)
    for each in runs:
        of_kind[kind_of(each)].append(each)
    run = runs[0]
    compared = comparison.compare(launch for each in of_kind["threads"] for launch in each.launches)
    choices = [chosen for each in compared.values() if (chosen := choice.choose(each)) is not None]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined,
    )  # fmt: skip
    environment.filters |= {"time": time_text, "times": tables.times_text, "interval": tables.interval_text}
    return environment.get_template("report.html.j2").render(
        run=run,
        machine=defaultdict(lambda: None, run.environment),  # an interrupted run knows less of itself
        advice=tables.advice(choices),
        short=tables.short(compared),
        apart=tables.apart(compared),
        waits=tables.waits(compared),
        choices=[(chosen, tables.gains(compared[chosen.situation], chosen.pick)) for chosen in choices],
        peers=tables.PEERS,
        placements=list(dict.fromkeys(situation.placement for situation in compared)),
        figures=figures(compared),
        heat={placement: tables.heat(compared, placement) for placement in ("pinned", "free")},
        crowded=tables.crowded(compared),
        uneven=uneven(compared),
        executions=[(caption, Markup(svg)) for caption, svg in executions.examples()] if compared else [],
        targets=targets.evaluate(compared),
        everything=tables.everything(compared),
        crowd=crowd_section.section(of_kind["crowd"][0]) if of_kind["crowd"] else None,
        of_ranks=mpi_section.of_ranks(of_kind["mpi"]),
        of_threads=mpi_section.of_threads(of_kind["hybrid"]),
        shmem=shmem_section.of(of_kind["shmem"]),
        udp=udp_section.of(of_kind["udp"]),
        nic=nic_section.of(of_kind["udp"], of_kind["work"]),
        downloads=[
            file for each in runs for file in downloads(each, "" if each is run else each.folder.name)
        ],
        launches=tables.launches(compared),
        versions=tables.versions(run),
    )


def figures(compared: Comparisons) -> dict[str, Markup]:
    """Every figure by name; an empty one where its candidates were not measured."""
    own = curves.named(compared, choice.OWN, waits=("auto",))
    turnstile, mcs = curves.find(compared, "turnstile", "auto"), curves.find(compared, "mcs", "auto")
    today = [curves.find(compared, name) for name in ("tollbar::barrier", *tables.PEERS)]
    users = [candidate for candidate in today if candidate]
    waits = [curves.find(compared, "turnstile", wait) for wait in ("auto", "yield", "park")]
    busy = [*waits, curves.find(compared, "combination", "auto"), *users]
    made = {
        "fig7": curves.figure("fig7", curves.paper(compared, [turnstile] if turnstile else []), "latency"),
        "fig8": curves.figure("fig8", curves.paper(compared, [mcs] if mcs else []), "latency"),
        "fig9": curves.figure(
            "fig9", curves.paper(compared, [each for each in (turnstile, mcs) if each]), "latency"
        ),
    }
    crowded_only = {situation: each for situation, each in compared.items() if each.crowded}
    for placement in ("pinned", "free"):
        lines = curves.several(compared, placement, own, curves.latency)
        made[f"own-{placement}"] = curves.figure(f"own-{placement}", lines, "latency")
        lines = curves.several(compared, placement, users, curves.period)
        made[f"users-{placement}"] = curves.figure(f"users-{placement}", lines, "loop period")
        near = [each for each in (turnstile, curves.find(compared, "combination", "auto"), mcs) if each]
        lines = curves.several(compared, placement, [*near, *users], curves.over_floor, with_floor=False)
        made[f"floor-{placement}"] = curves.figure(
            f"floor-{placement}", lines, "times the floor", times=False
        )
        lines = curves.several(compared, placement, [*near, *users], curves.skew, with_floor=False)
        made[f"skew-{placement}"] = curves.figure(f"skew-{placement}", lines, "exit skew")
        some = [each for each in dict.fromkeys(busy) if each]
        lines = curves.several(crowded_only, placement, some, curves.period, with_floor=False)
        bound = curves.floor(crowded_only, placement, crowded_only=True)
        lines += [bound] if bound and lines else []
        made[f"crowded-{placement}"] = curves.figure(f"crowded-{placement}", lines, "loop period")
    return {name: Markup(svg) for name, svg in made.items()}


def uneven(compared: Comparisons) -> list[tuple[Situation, Markup]]:
    """Distributions of uneven episodes: the smallest situation with and without processors to spare."""
    shown: dict[tuple[str, bool], tuple[Situation, Markup]] = {}
    for situation, each in compared.items():
        key = situation.placement, each.crowded
        if key not in shown and (samples := curves.modes(each)):
            name = f"modes-{situation.placement}-{situation.ranks}"
            shown[key] = situation, Markup(distribution(name, samples, "latency"))
    return list(shown.values())


def kind_of(run: Run) -> str:
    """What was measured: threads, crowd, mpi, hybrid, shmem, udp, work."""
    return str(run.environment.get("kind") or "threads")


def downloads(run: Run, prefix: str = "") -> list[tuple[str, str, Markup]]:
    """Name, what it is, and the address that holds the data itself."""
    files = [
        ("batches.csv", "every timed batch", _uri("text/csv", batches_csv(run).encode())),
        ("episodes.csv", "quantiles of the stamped episodes", _uri("text/csv", episodes_csv(run).encode())),
        (
            "environment.json",
            "the machine and the run",
            _uri("application/json", json.dumps(run.environment, indent=2).encode()),
        ),
    ]
    if kind_of(run) == "work":
        files[:2] = [("work.csv", "every run of a workload", _uri("text/csv", work_csv(run).encode()))]
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


def episodes_csv(run: Run) -> str:
    """The quantiles of each candidate's stamped episodes in each round of each launch."""
    rows = []
    for launch in run.launches:
        where = (launch.group, launch.program, launch.environment.placement, launch.environment.ranks)
        for each in (each for each in launch.episodes if each.latency_ns):
            latency = statistics.quantiles(each.latency_ns, (0.5, 0.95, 0.99, 1.0))
            others = [statistics.quantiles(values, (0.5,))[0] for values in (each.skew_ns, each.span_ns)]
            label = (each.round, each.name, each.kind, each.wait, len(each.latency_ns))
            rows.append([*where, *label, *latency, *others])
    return _csv([*_WHERE, *_EPISODES], rows)


def batches_csv(run: Run) -> str:
    """Every timed batch."""
    rows = []
    for launch in run.launches:
        where = (launch.group, launch.program, launch.environment.placement, launch.environment.ranks)
        rows += [[*where, *(getattr(batch, name) for name in _BATCH)] for batch in launch.batches]
    return _csv([*_WHERE, *_BATCH], rows)


def work_csv(run: Run) -> str:
    """Every timed batch of a workload's runs."""
    rows = []
    for launch in run.launches:
        where = (launch.group, launch.program, launch.environment.placement, launch.environment.ranks)
        records = [each for each in launch.singles if isinstance(each, Working)]
        rows += [[*where, *(getattr(each, name) for name in _WORK)] for each in records]
    return _csv([*_WHERE, *_WORK], rows)


def _csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()

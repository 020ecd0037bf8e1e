# SPDX-License-Identifier: Apache-2.0
"""What the report shows of barriers between processes, PEs and hosts, and the same as tables for a page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar.data import places
from tollbar.data.places import Measurements, Situation
from tollbar.data.results import Stored
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.report import curves, mpi_tables, tables
from tollbar.report.figures import COLOURS, Axis, Figure

KINDS = {"mpi": "Between ranks", "hybrid": "Between threads of ranks", "shmem": "Between PEs"}
_SPLIT = (
    "default", "dissemination (puts)", "dissemination (amo64)", "shmem_barrier_all", "MPI_Ibarrier",
    "MPI NBX",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A table, figures, and every number of each place."""

    rows: Sequence[Any]
    figures: list[Figure]
    everything: list[tuple[Measurements, list[dict[str, Any]]]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  #: what only one of them has


def processes(samples: Samples | None) -> Section | None:
    """Barriers between ranks, or between threads of ranks, of runs over different numbers of hosts."""
    if samples is None:
        return None
    there = places.processes(samples)
    return Section(mpi_tables.rows(there), _by_ranks(there), tables.everything(there.values()))


def _by_ranks(there: Mapping[Situation, Measurements]) -> list[Figure]:
    """Everything without a parameter over the ranks: a figure for each MPI and layout of several sizes."""
    made = []
    for (mpi, layout), along in places.layouts(there).items():
        some = [each for each in places.names(along.values()) if ":" not in each.name]
        some.sort(key=lambda each: (each.kind not in ("mpi", "door"), each.wait))
        for start in range(0, len(some) if len(along) > 1 else 0, COLOURS):
            lines = curves.several(along, some[start : start + COLOURS])
            name = "-".join(re.findall("[a-z0-9]+", f"ranks {mpi} {layout} {start // COLOURS + 1}".lower()))
            text = f"Everything measured over {mpi}, {layout}"
            made.append(Figure(name, text, lines, Axis("ranks"), Axis("latency", "log", "ns")))
    return made


def shmem(samples: Samples | None) -> Section | None:
    """The exchange and the barrier alone, by PEs; None where there is nothing."""
    there = places.by_ranks(samples) if samples else {}
    if not samples or not there:
        return None
    exchange, period = (curves.several(there, _SPLIT, name, 2) for name in ("exchange_ns", "period_ns"))
    period += curves.floor(there, "floor") if len(there) > 1 else []
    iteration, beside = "An iteration of the exchange", "Post and wait, back to back"
    return Section(
        _shmem_rows(there),
        [
            Figure("shmem-exchange", iteration, exchange, Axis("PEs")),
            Figure("shmem-period", beside, period, Axis("PEs")),
        ],
        more={
            "library": next((facts["mpi"] for facts in samples.facts.values() if "mpi" in facts), "an OpenSHMEM"),
            "pes": list(there),
            "beside": _beside(there.values()),
            "skipped": {name: why for measured in there.values() for (name, _), why in measured.skipped.items()},
        },
    )


def _shmem_rows(there: Mapping[int, Measurements]) -> list[tuple[str, list[tuple[Any, Any, Any]]]]:
    """For each barrier and number of PEs the exchange, its ratio to MPI_Ibarrier's, and post and wait."""
    labels = dict.fromkeys(
        label
        for metric in ("exchange_ns", "period_ns")
        for measured in there.values()
        for label in measured.labels(metric)
    )
    return [
        (
            label,
            [
                (
                    measured.median(label, "exchange_ns"),
                    measured.ratio(label, "MPI_Ibarrier", "exchange_ns"),
                    measured.median(label, "period_ns"),
                )
                for measured in there.values()
            ],
        )
        for label in labels
    ]


def _beside(there: Iterable[Measurements]) -> list[tuple[str, Interval | None, Interval | None]]:
    """Each barrier with a PE away after its post, and while the others compute."""
    found: dict[str, dict[str, Interval]] = {}
    for measured in there:
        for metric in ("released_ns", "free_share"):
            for label in measured.labels(metric):
                if median := measured.median(label, metric):
                    found.setdefault(label, {}).setdefault(metric, median)
    return [(label, each.get("released_ns"), each.get("free_share")) for label, each in found.items()]


def udp(samples: Samples | None) -> Section | None:
    """Every barrier by hosts, the curves, and every number."""
    if samples is None:
        return None
    there = places.by_ranks(samples)
    told = next(iter(samples.environments.values()))
    met = sorted(places.names(there.values()), key=lambda each: (each.kind == "mpi", each.label))
    periods, cpu = (curves.several(there, met, name, 2) for name in ("period_ns", "cpu_ns"))
    text = "A barrier, back to back"
    cpu_text = "CPU time of all ranks for a barrier"
    return Section(
        udp_rows(there),
        [Figure("udp-period", text, periods, Axis("hosts")), Figure("udp-cpu", cpu_text, cpu, Axis("hosts"))],
        everything=tables.everything(there.values()),
        more={
            "network": "each a network namespace linked to a bridge"
            if told.get("network") == "namespaces"
            else "all on this machine's loopback",
            "mpi": next(iter(told.get("mpis") or {}), None),
        },
    )


def udp_rows(there: Mapping[int, Measurements]) -> list[dict[str, Any]]:
    """By hosts, the fastest first: how many times as long an MPI takes as it comes, and its best one here."""
    found = []
    for ranks, measured in there.items():
        rows = [row for row in tables.rows_of(measured) if row["period"]]
        rows.sort(key=lambda row: row["period"].value)
        default = measured.find("MPI_Barrier")
        best = next((row["candidate"] for row in rows if row["candidate"].kind == "mpi"), None)
        for row in rows:
            ours = row["candidate"] if row["candidate"].kind != "mpi" else None
            of_default, of_best = (measured.ratio(mpi, ours) if mpi and ours else None for mpi in (default, best))
            found.append(row | {"ranks": ranks, "of_default": of_default, "of_best": of_best, "best": best})
    return found


def machine(run: Stored) -> str:
    """The machine of a run, in words."""
    facts = run.environment
    more = [facts.get("kernel"), facts.get("began") and f"measured {facts['began']}", run.folder.name]
    return ", ".join([tables.machine_text(facts), *filter(None, more)])

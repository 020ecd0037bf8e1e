# SPDX-License-Identifier: Apache-2.0
"""The report's sections on barriers between processes, PEs and hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar.data import places, statistics
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.report import curves, tables
from tollbar.report.figures import COLOURS, Axis, Figure


@dataclass(frozen=True)
class Section:
    """A table, figures, and every number of each place."""

    rows: Sequence[Any]
    figures: list[Figure] = field(default_factory=list)
    everything: list[tuple[Measurements, list[dict[str, Any]]]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  #: what only one of them has


@dataclass(frozen=True)
class OfMpi:
    """One place. Times are loop periods but for latency and skew, which are those of `pick`."""

    place: Situation
    own: Interval | None
    component: Interval | None
    preload: Interval | None
    ratio: Interval | None  #: how many times as long the own one takes as the first door, or as `pick`
    pick: Candidate | None  #: of what is not behind MPI_Barrier, that with the shortest latency
    latency: Interval | None
    skew: Interval | None
    period: Interval | None


def processes(samples: Samples | None) -> Section | None:
    """Barriers between ranks, or between threads of ranks, of runs over different numbers of hosts."""
    if samples is None:
        return None
    situations = places.processes(samples)
    rows = [of_mpi(place, measured) for place, measured in situations.items()]
    return Section(rows, _by_ranks(situations), tables.everything(situations.values()))


def of_mpi(place: Situation, measured: Measurements) -> OfMpi:
    plans = [candidate for candidate in measured.candidates if candidate.kind not in ("mpi", "door", "peer")]
    own, pick = places.own_of(measured), _fastest(measured, plans)
    behind = {door: measured.median(f"MPI_Barrier [{door}]", "period_ns") for door in places.DOORS}
    first = next((f"MPI_Barrier [{door}]" for door, period in behind.items() if period), None)
    ours = first or pick
    ratio = measured.ratio(own, ours) if own and ours else None
    return OfMpi(
        place,
        own=measured.median(own, "period_ns"),
        component=behind["component"],
        preload=behind["preload"],
        ratio=ratio and statistics.one_of(ratio, 1 if first else len(plans)),
        pick=pick,
        latency=measured.median(pick, "latency_ns"),
        skew=measured.median(pick, "skew_ns"),
        period=measured.median(pick, "period_ns"),
    )


def _fastest(measured: Measurements, plans: Sequence[Candidate]) -> Candidate | None:
    times = {plan: ns for plan in plans if (ns := measured.time_ns(plan)) is not None}
    return min(times, key=times.__getitem__, default=None)


def _by_ranks(situations: Mapping[Situation, Measurements]) -> list[Figure]:
    """Everything without a parameter over the ranks: a figure for each MPI and layout of several sizes."""
    made = []
    for (mpi, layout), along in places.layouts(situations).items():
        some = [candidate for candidate in places.names(along.values()) if ":" not in candidate.name]
        some.sort(key=lambda candidate: (candidate.kind not in ("mpi", "door"), candidate.wait))
        for start in range(0, len(some) if len(along) > 1 else 0, COLOURS):
            lines = curves.several(along, some[start : start + COLOURS])
            name = "-".join(re.findall("[a-z0-9]+", f"ranks {mpi} {layout} {start // COLOURS + 1}".lower()))
            text = f"Everything measured over {mpi}, {layout}"
            made.append(Figure(name, text, lines, Axis("ranks"), Axis("latency", "log", "ns")))
    return made


def shmem(samples: Samples | None) -> Section | None:
    """The exchange and the barrier alone, by PEs; None where there is nothing."""
    by_pes = places.by_ranks(samples) if samples else {}
    if not samples or not by_pes:
        return None
    return Section(
        _shmem_rows(by_pes),
        more={
            "library": next((facts["mpi"] for facts in samples.facts.values() if "mpi" in facts), "an OpenSHMEM"),
            "pes": list(by_pes),
            "beside": _beside(by_pes.values()),
            "skipped": {name: why for measured in by_pes.values() for (name, _), why in measured.skipped.items()},
        },
    )


def _shmem_rows(by_pes: Mapping[int, Measurements]) -> list[tuple[str, list[tuple[Any, Any, Any]]]]:
    """The exchange, its ratio to MPI_Ibarrier's, and post and wait, for each barrier and number of PEs."""
    labels = dict.fromkeys(
        label
        for metric in ("exchange_ns", "period_ns")
        for measured in by_pes.values()
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
                for measured in by_pes.values()
            ],
        )
        for label in labels
    ]


def _beside(situations: Iterable[Measurements]) -> list[tuple[str, Interval | None, Interval | None]]:
    """Each barrier with a PE away after its post, and while the others compute."""
    by_label: dict[str, dict[str, Interval]] = {}
    for measured in situations:
        for metric in ("released_ns", "free_share"):
            for label in measured.labels(metric):
                if median := measured.median(label, metric):
                    by_label.setdefault(label, {}).setdefault(metric, median)
    return [(label, medians.get("released_ns"), medians.get("free_share")) for label, medians in by_label.items()]


def udp(samples: Samples | None) -> Section | None:
    """The barriers by hosts, their curves, and every number; None where there is nothing."""
    if samples is None:
        return None
    by_hosts = places.by_ranks(samples)
    facts = next(iter(samples.environments.values()))
    met = sorted(places.names(by_hosts.values()), key=lambda candidate: (candidate.kind == "mpi", candidate.label))
    curves_of = (
        ("udp-period", "A barrier, back to back", curves.several(by_hosts, met, "period_ns", 2)),
        ("udp-cpu", "CPU time of all ranks for a barrier", curves.several(by_hosts, met, "cpu_ns", 2)),
    )
    return Section(
        udp_rows(by_hosts),
        [Figure(*named, Axis("hosts")) for named in curves_of if named[-1]],
        everything=tables.everything(by_hosts.values()),
        more={
            "network": "each a network namespace linked to a bridge"
            if facts.get("network") == "namespaces"
            else "all on this machine's loopback",
            "mpi": next(iter(facts.get("mpis") or {}), None),
        },
    )


def udp_rows(by_hosts: Mapping[int, Measurements]) -> list[dict[str, Any]]:
    """A row for each barrier, the fastest first, with an MPI's time over its own: as it comes, and its best here."""
    shown = []
    for ranks, measured in by_hosts.items():
        rows = [row for row in tables.rows_of(measured) if row["period"]]
        rows.sort(key=lambda row: row["period"].value)
        default = measured.find("MPI_Barrier")
        of_mpi = [row["candidate"] for row in rows if row["candidate"].kind == "mpi"]
        best = next(iter(of_mpi), None)
        for row in rows:
            ours = row["candidate"] if row["candidate"].kind != "mpi" else None
            of_default, of_best = (measured.ratio(mpi, ours) if mpi and ours else None for mpi in (default, best))
            chosen = of_best and statistics.one_of(of_best, len(of_mpi))
            shown.append(row | {"ranks": ranks, "of_default": of_default, "of_best": chosen, "best": best})
    return shown

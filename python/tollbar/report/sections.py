# SPDX-License-Identifier: Apache-2.0
"""What the report shows of barriers between processes, PEs and hosts, and the same as tables for a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tollbar.data import places, samples
from tollbar.data.places import Here
from tollbar.data.results import Stored
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.models import exchange as shmem_model
from tollbar.report import curves, mpi_figures, mpi_tables, plots, shmem_tables, tables, targets
from tollbar.report.curves import Figure
from tollbar.report.target import Target

KINDS = {"mpi": "Between ranks", "hybrid": "Between threads of ranks", "shmem": "Between PEs"}
_SPLIT = (
    "default", "dissemination (puts)", "dissemination (amo64)", "shmem_barrier_all", "MPI_Ibarrier",
    "MPI NBX",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A table, figures, the targets of which something can be said, and every number of each place."""

    rows: Sequence[Any]
    figures: list[Figure]
    targets: list[Target] = field(default_factory=list)
    everything: list[tuple[Here, list[dict[str, Any]]]] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)  #: what only one of them has


def processes(found: Samples | None) -> Section | None:
    """Barriers between ranks, or between threads of ranks, of runs over different numbers of hosts."""
    if found is None:
        return None
    there = places.processes(found)
    figures = mpi_figures.of(found)
    return Section(mpi_tables.rows(there), figures, reached(found), tables.everything(there))


def reached(found: Samples) -> list[Target]:
    """The targets that something can be said about, a run after the other: each is on hosts of its own."""
    runs = found.rows["run"].unique(maintain_order=True).to_list()
    some = [each for run in runs for each in targets.evaluate(found.of_run(run))]
    return [each for each in some if each.value is not None]


def shmem(found: Samples | None) -> Section | None:
    """The split-mode paper's table; None where there is nothing."""
    there = places.by_ranks(found) if found else {}
    if not found or not there:
        return None
    modelled = {each.experiment: each.seconds for each in shmem_model.table()}
    exchange, period = (curves.several(there, _SPLIT, name, 2) for name in ("exchange_ns", "period_ns"))
    period += curves.floor(there, "floor") if len(there) > 1 else []
    iteration, beside = "An iteration of the exchange", "Post and wait, back to back"
    return Section(
        [(each, modelled.get(each.name), rows) for each, rows in shmem_tables.by_experiment(there).items()],
        [
            *curves.drawn("shmem-exchange", iteration, exchange, plots.against, "time", xlabel="PEs"),
            *curves.drawn("shmem-period", beside, period, plots.against, "time", xlabel="PEs"),
        ],
        reached(found),
        more={
            "library": targets.library(found),
            "pes": list(there),
            "beside": _beside(there.values()),
            "skipped": {name: why for here in there.values() for (name, _), why in here.skipped.items()},
        },
    )  # fmt: skip


def _beside(there: Iterable[Here]) -> list[tuple[str, Interval | None, Interval | None]]:
    """Each barrier with a PE away after its post, and while the others compute."""
    found: dict[str, dict[str, Interval]] = {}
    for here in there:
        for metric in ("released_ns", "free_share"):
            for label in here.labels(metric):
                found.setdefault(label, {}).setdefault(metric, here.median(label, metric))
    return [(label, each.get("released_ns"), each.get("free_share")) for label, each in found.items()]


def udp(found: Samples | None) -> Section | None:
    """Every barrier by hosts, the curves, and every number."""
    if found is None:
        return None
    there = places.by_ranks(found)
    told = next(iter(found.environments.values()))
    met = sorted(places.names(there.values()), key=lambda each: (each.kind == "mpi", each.label))
    periods, cpu = (curves.several(there, met, name, 2) for name in ("period_ns", "cpu_ns"))
    text = "A barrier, back to back"
    cpu_text = "CPU time of all ranks for a barrier"
    return Section(
        udp_rows(there),
        [
            *curves.drawn("udp-period", text, periods, plots.against, "time", xlabel="hosts"),
            *curves.drawn("udp-cpu", cpu_text, cpu, plots.against, "time", xlabel="hosts"),
        ],
        everything=tables.everything(there),
        more={
            "network": "each a network namespace linked to a bridge"
            if told.get("network") == "namespaces"
            else "all on this machine's loopback",
            "mpi": next(iter(told.get("mpis") or {}), None),
        },
    )  # fmt: skip


def udp_rows(there: Mapping[int, Here]) -> list[dict[str, Any]]:
    """By hosts, the fastest first: how many times as long an MPI takes as it comes, and its best one here."""
    found = []
    for ranks, here in there.items():
        rows = [row for row in tables.rows_of(here) if row["period"]]
        rows.sort(key=lambda row: row["period"].value)
        default = here.find("MPI_Barrier")
        best = next((row["candidate"] for row in rows if row["candidate"].kind == "mpi"), None)
        for row in rows:
            ours = row["candidate"] if row["candidate"].kind != "mpi" else None
            of_default, of_best = (here.ratio(mpi, ours) if mpi and ours else None for mpi in (default, best))
            found.append(row | {"ranks": ranks, "of_default": of_default, "of_best": of_best, "best": best})
    return found


def machine(run: Stored) -> str:
    """The machine of a run, in words."""
    facts = run.environment
    more = [facts.get("kernel"), facts.get("began") and f"measured {facts['began']}", run.folder.name]
    return ", ".join([mpi_figures.machine_text(facts), *filter(None, more)])


def markdown(runs: Iterable[Stored]) -> str:
    """The tables of these runs for a page, each under its machine; empty where there are none."""
    parts = []
    for kind in KINDS:
        for run in (run for run in runs if run.environment.get("kind") == kind):
            found = samples.gather([run])
            if table := _table(kind, found):
                parts.append(f"{KINDS[kind]}: {machine(run)}.\n\n{table}")
            if some := reached(found):
                parts.append(f"Targets:\n\n{mpi_tables.targets_markdown(some)}")
    return "\n".join(parts)


def _table(kind: str, found: Samples) -> str:
    if kind == "shmem":
        return shmem_tables.markdown(places.by_ranks(found))
    rows = mpi_tables.rows(places.processes(found))
    return mpi_tables.markdown(rows) if rows else ""

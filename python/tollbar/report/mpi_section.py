# SPDX-License-Identifier: Apache-2.0
"""What the report shows of runs of `tollbar bench mpi` and `tollbar bench hybrid`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tollbar.data import mpi_places
from tollbar.data.comparison import Comparison
from tollbar.data.mpi_places import Place
from tollbar.data.results import Run
from tollbar.report import mpi_figures, mpi_tables, mpi_targets, tables
from tollbar.report.mpi_figures import Figure
from tollbar.report.mpi_targets import MpiTarget

KINDS = {"mpi": "Between ranks", "hybrid": "Between threads of ranks"}


@dataclass(frozen=True)
class Section:
    """The fastest of each place, the figures, the targets, and every number."""

    rows: list[mpi_tables.Row]
    figures: list[Figure]
    targets: list[MpiTarget]
    everything: list[tuple[Place, Comparison, list[dict[str, Any]]]]


def of_ranks(runs: Sequence[Run]) -> Section | None:
    """The barriers between ranks; the runs are over different numbers of hosts."""
    return _section(runs, mpi_figures.of_ranks(_together(runs))) if runs else None


def of_threads(runs: Sequence[Run]) -> Section | None:
    """The barriers between threads of ranks."""
    return _section(runs, mpi_figures.of_threads(_together(runs))) if runs else None


def _together(runs: Sequence[Run]) -> Run:
    """One run with all launches. Places of different runs differ, so nothing of theirs is mixed."""
    return dataclasses.replace(runs[0], launches=tuple(launch for run in runs for launch in run.launches))


def _section(runs: Sequence[Run], figures: list[Figure]) -> Section:
    places = mpi_places.gather(_together(runs).launches)
    everything = [
        (place, compared, rows)
        for place, (compared, rows) in zip(places, tables.everything(places), strict=True)
    ]
    return Section(
        mpi_tables.rows(places), figures, [each for run in runs for each in _targets(run)], everything
    )


def _targets(run: Run) -> list[MpiTarget]:
    """Those of the ranks that something can be said about."""
    if run.environment.get("kind") != "mpi":
        return []
    reached = mpi_targets.evaluate(mpi_places.gather(run.launches))
    return [each for each in reached if each.value is not None]


def machine(run: Run) -> str:
    """The machine of a run, in words."""
    facts = run.environment
    more = [facts.get("kernel"), facts.get("began") and f"measured {facts['began']}", run.folder.name]
    return ", ".join([mpi_figures.machine_text(run), *filter(None, more)])


def markdown(runs: Iterable[Run]) -> str:
    """The tables of these runs for a page, each under its machine; empty where there are none."""
    parts = []
    for run in (run for run in runs if run.environment.get("kind") in KINDS):
        places = mpi_places.gather(run.launches)
        if found := mpi_tables.rows(places):
            parts.append(f"{KINDS[run.environment['kind']]}: {machine(run)}.\n\n{mpi_tables.markdown(found)}")
        if targets := _targets(run):
            parts.append(f"Targets:\n\n{mpi_tables.targets_markdown(targets)}")
    return "\n".join(parts)

# SPDX-License-Identifier: Apache-2.0
"""What the report shows of one run of `tollbar bench mpi` or `tollbar bench hybrid`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tollbar import mpi_figures, mpi_places, mpi_tables, tables
from tollbar.comparison import Comparison
from tollbar.mpi_figures import Figure
from tollbar.mpi_places import Place
from tollbar.results import Run

KINDS = {"mpi": "Between ranks", "hybrid": "Between threads of ranks"}


@dataclass(frozen=True)
class Section:
    """The fastest of each place, the figures, and every number."""

    rows: list[mpi_tables.Row]
    figures: list[Figure]
    everything: list[tuple[Place, Comparison, list[dict[str, Any]]]]


def of_ranks(run: Run | None) -> Section | None:
    """The barriers between ranks."""
    return _section(run, mpi_figures.of_ranks(run)) if run else None


def of_threads(run: Run | None) -> Section | None:
    """The barriers between threads of ranks."""
    return _section(run, mpi_figures.of_threads(run)) if run else None


def _section(run: Run, figures: list[Figure]) -> Section:
    places = mpi_places.gather(run.launches)
    everything = [
        (place, compared, rows)
        for place, (compared, rows) in zip(places, tables.everything(places), strict=True)
    ]
    return Section(mpi_tables.rows(places), figures, everything)


def _machine(run: Run) -> str:
    facts = run.environment
    more = [facts.get("kernel"), facts.get("began") and f"measured {facts['began']}", run.folder.name]
    return ", ".join([mpi_figures.machine_text(run), *filter(None, more)])


def markdown(runs: Iterable[Run]) -> str:
    """The tables of these runs for a page, each under its machine; empty where there are none."""
    parts = []
    for run in runs:
        found = (
            mpi_tables.rows(mpi_places.gather(run.launches)) if run.environment.get("kind") in KINDS else []
        )
        if found:
            heading = f"{KINDS[run.environment['kind']]}: {_machine(run)}."
            parts.append(f"{heading}\n\n{mpi_tables.markdown(found)}")
    return "\n".join(parts)

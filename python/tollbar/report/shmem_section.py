# SPDX-License-Identifier: Apache-2.0
"""What the report shows of a run of `tollbar bench shmem`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from tollbar.data import comparison, shmem_results
from tollbar.data.results import Run
from tollbar.data.shmem_results import Measured, What
from tollbar.data.statistics import Interval
from tollbar.models import shmem as shmem_model
from tollbar.models.shmem_published import Experiment
from tollbar.report import mpi_section, mpi_tables, plots, shmem_tables, shmem_targets
from tollbar.report.mpi_targets import MpiTarget
from tollbar.report.plots import Line
from tollbar.report.shmem_tables import Row

_SHOWN = (
    shmem_targets.DEFAULT, shmem_targets.PUTS, "dissemination (amo64)", shmem_targets.BLOCKING,
    shmem_targets.IBARRIER, shmem_targets.NBX,
)  # fmt: skip


@dataclass(frozen=True)
class Beside:
    """One barrier with a PE away after its post, and while the others compute."""

    label: str
    released: Interval | None  #: nanoseconds
    free: Interval | None  #: share of the barrier


@dataclass(frozen=True)
class Section:
    """The paper's table, what else was measured, the figures, the targets."""

    library: str
    pes: list[int]
    lines: list[
        tuple[Experiment, float | None, list[Row]]
    ]  #: experiment, seconds in the model, a row for each PEs
    beside: list[Beside]
    figures: list[tuple[str, str, Markup]]  #: name, caption, picture
    targets: list[MpiTarget]
    skipped: dict[str, str]


def of(runs: Sequence[Run]) -> Section | None:
    """The newest run's; None where there is none."""
    if not runs:
        return None
    measured = shmem_results.gather(runs[-1].launches)
    if not measured:
        return None
    modelled = {each.experiment: each.seconds for each in shmem_model.table()}
    lines: dict[Experiment, list[Row]] = {}
    for row in shmem_tables.rows(measured):
        lines.setdefault(row.experiment, []).append(row)
    return Section(
        next(iter(measured.values())).library,
        list(measured),
        [(experiment, modelled.get(experiment.name), rows) for experiment, rows in lines.items()],
        _beside(measured),
        _figures(measured),
        [each for each in shmem_targets.evaluate(measured) if each.value is not None],
        shmem_results.skipped(measured),
    )


def _beside(measured: Mapping[int, Measured]) -> list[Beside]:
    labels = dict.fromkeys(label for each in measured.values() for label in (*each.away, *each.free))
    return [
        Beside(label, _first(measured, "away", label), _first(measured, "free", label)) for label in labels
    ]


def _first(measured: Mapping[int, Measured], what: What, label: str) -> Interval | None:
    return next(filter(None, (each.interval(what, label) for each in measured.values())), None)


def _figures(measured: Mapping[int, Measured]) -> list[tuple[str, str, Markup]]:
    """Curves over the number of PEs; a single number of them makes none."""
    if len(measured) < 2:
        return []
    made = [
        ("shmem-exchange", "An iteration of the exchange", _lines(measured, "exchange")),
        ("shmem-period", "Post and wait, back to back", [*_lines(measured, "period"), *_floor(measured)]),
    ]
    return [
        (name, caption, Markup(plots.against(name, lines, "time", xlabel="PEs")))
        for name, caption, lines in made
        if lines
    ]


def _lines(measured: Mapping[int, Measured], what: What) -> list[Line]:
    found = []
    for colour, label in enumerate(_SHOWN):
        points = {
            pes: comparison.pooled(getattr(each, what)[label])
            for pes, each in measured.items()
            if label in getattr(each, what)
        }
        if len(points) > 1:
            low, middle, high = (
                [float(np.quantile(values, share)) for values in points.values()] for share in (0.1, 0.5, 0.9)
            )
            found.append(Line(label, list(points), middle, low, high, colour))
    return found


def _floor(measured: Mapping[int, Measured]) -> list[Line]:
    floors = {
        pes: found.value
        for pes, each in measured.items()
        if each.comparison.floor and (found := comparison.summarise(each.comparison.floor))
    }
    return [Line("floor", list(floors), list(floors.values()), bound=True)] if len(floors) > 1 else []


def markdown(runs: Iterable[Run]) -> str:
    """The tables of these runs for a page, each under its machine; empty where there are none."""
    parts = []
    for run in (run for run in runs if run.environment.get("kind") == "shmem"):
        measured = shmem_results.gather(run.launches)
        reached = [each for each in shmem_targets.evaluate(measured) if each.value is not None]
        parts.append(f"Between PEs: {mpi_section.machine(run)}.\n\n{shmem_tables.markdown(measured)}")
        if reached:
            parts.append(f"Targets:\n\n{mpi_tables.targets_markdown(reached)}")
    return "\n".join(parts)

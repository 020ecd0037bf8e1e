# SPDX-License-Identifier: Apache-2.0
"""What the report shows of a run of `tollbar bench udp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from tollbar.data import comparison
from tollbar.data.comparison import Candidate, Comparison, Measured
from tollbar.data.results import Run
from tollbar.data.statistics import Series
from tollbar.report import plots, tables, udp_tables
from tollbar.report.plots import Line
from tollbar.report.udp_tables import Row

_BAND = (0.1, 0.9)


@dataclass(frozen=True)
class Section:
    """Every barrier by hosts, the curves, and every number."""

    network: str
    mpi: str | None
    rows: list[Row]
    figures: list[tuple[str, str, Markup]]  #: name, caption, picture
    everything: list[tuple[int, Comparison, list[dict[str, Any]]]]


def of(runs: Sequence[Run]) -> Section | None:
    """The newest run's; None where there is none."""
    if not runs:
        return None
    run = runs[-1]
    compared = udp_tables.gather(run.launches)
    on_hosts = run.environment.get("network") == "namespaces"
    return Section(
        "each a network namespace linked to a bridge" if on_hosts else "all on this machine's loopback",
        next(iter(run.environment.get("mpis") or {}), None),
        udp_tables.rows(compared),
        _figures(compared),
        [
            (ranks, each, rows)
            for ranks, (each, rows) in zip(compared, tables.everything(compared), strict=True)
        ],
    )


def _figures(compared: Mapping[int, Comparison]) -> list[tuple[str, str, Markup]]:
    """Time and CPU time against hosts; a single number of them makes no curve."""
    made = [
        ("udp-period", "A barrier, back to back", lambda measured: measured.period),
        ("udp-cpu", "CPU time of all ranks for a barrier", lambda measured: measured.cpu),
    ]
    return [
        (name, caption, Markup(plots.against(name, lines, "time", xlabel="hosts")))
        for name, caption, values_of in made
        if (lines := _lines(compared, values_of))
    ]


def _lines(compared: Mapping[int, Comparison], values_of: Callable[[Measured], Series]) -> list[Line]:
    met: dict[Candidate, None] = {
        candidate: None for each in compared.values() for candidate in each.candidates
    }
    found = []
    for candidate in sorted(met, key=lambda each: (each.kind == "mpi", each.label)):
        points = {
            ranks: comparison.pooled(values_of(each.candidates[candidate]))
            for ranks, each in compared.items()
            if candidate in each.candidates
        }
        if len(points) < 2:
            continue
        low, middle, high = (
            [float(np.quantile(values, share)) for values in points.values()]
            for share in (_BAND[0], 0.5, _BAND[1])
        )
        colour = len(found)
        found.append(
            Line(candidate.label, list(points), middle, low, high, colour, dashed=candidate.kind == "mpi")
        )
    return found

# SPDX-License-Identifier: Apache-2.0
"""What the figures of the NIC paper have in common: who is on them, in which colour, how a curve is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from tollbar.data import comparison
from tollbar.data.statistics import Series
from tollbar.data.workloads import Measured
from tollbar.report.nic_measured import BESIDE, CARD, HOST, LABELS
from tollbar.report.plots import Line

WAYS = (HOST, CARD, *BESIDE)
COLOURS = {way: number for number, way in enumerate(WAYS)}
_BAND = (0.1, 0.9)


@dataclass(frozen=True)
class Figure:
    """One picture; the number is the paper's."""

    number: str
    caption: str
    svg: Markup

    @property
    def name(self) -> str:
        return f"nic-{self.number}"


def drawn(number: str, caption: str, draw: Callable[[str], str]) -> Figure:
    return Figure(number, caption, Markup(draw(f"nic-{number}")))


def label(way: str) -> str:
    return LABELS.get(way, way)


def curve(way: str, x: Sequence[float], series: Sequence[Series], unit_ns: float = 1.0) -> Line:
    """The middle and the range in which eight of ten rounds lie."""
    low, middle, high = (
        [float(np.quantile(comparison.pooled(each), share)) / unit_ns for each in series]
        for share in (_BAND[0], 0.5, _BAND[1])
    )
    return Line(label(way), x, middle, low, high, COLOURS[way], dashed=dashed(way))


def dashed(way: str) -> bool:
    return way.startswith("MPI")  # an MPI's calls, whoever carries them


def of_runs(way: str, runs: Mapping[float, Measured]) -> list[Line]:
    """One curve of runs, in microseconds; a single one makes none."""
    if len(runs) < 2:
        return []
    in_order = dict(sorted(runs.items()))
    return [curve(way, list(in_order), [run.elapsed for run in in_order.values()], 1e3)]


def modelled(way: str, values: Mapping[float, float], text: str = "") -> Line:
    """What the model gives."""
    x, y = list(values), list(values.values())
    return Line(f"{way} by the model{text}", x, y, colour=COLOURS[way], predicted=True)

# SPDX-License-Identifier: Apache-2.0
"""Measured latencies for the NIC timing model: read from a file, fitted, shown beside the fitted model."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import tollbar
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column

if TYPE_CHECKING:
    from tollbar.models.nic_fit import Fit, Point

_COLUMNS = ["nodes", "host_us", "nic_us"]


@dataclass(frozen=True)
class Fitted:
    kind: str = column("parameter, or latency (a measurement of the file)")
    name: str = column("H, a, b or SDMA; host or nic")
    nodes: int | None = column("of the measurement")
    us: float = column("the parameter, in the middle of its range; or what was measured")
    low_us: float | None = column("least value that fits")
    high_us: float | None = column("greatest value that fits")
    identifiable: bool | None = column("whether the latencies fix the parameter")
    model_us: float | None = column("what the fitted parameters give")
    off_pct: float | None = column("the residual: model against measurement, in percent")


def table(path: Path) -> Table:
    """The fit of the latencies in `path`, a CSV file with the columns nodes,host_us,nic_us."""
    from tollbar.models import nic_fit  # numpy and scipy

    points = read(path)
    fit = nic_fit.fit(points)
    return Table([*_parameters(fit), *_latencies(fit, points)])


def _parameters(fit: Fit) -> list[Fitted]:
    return [
        Fitted("parameter", name, None, term.us, term.low_us, term.high_us, term.identifiable, None, None)
        for name, term in fit.terms.items()
    ]


def _latencies(fit: Fit, points: list[Point]) -> list[Fitted]:
    rows = []
    for where in ("host", "nic"):
        for point in points:
            us = point.host_us if where == "host" else point.nic_us
            model_us = tollbar.simulate_nic(tollbar.plan("pairwise", point.nodes), where, fit.card).last_us
            off_pct = 100 * (model_us / us - 1)
            rows.append(Fitted("latency", where, point.nodes, us, None, None, None, model_us, off_pct))
    return rows


def read(path: Path) -> list[Point]:
    """Raises WrongUse that names the line and the column."""
    from tollbar.models.nic_fit import Point

    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, skipinitialspace=True)
            lines = [(reader.line_num, line) for line in reader if line and not line[0].startswith("#")]
    except (UnicodeDecodeError, csv.Error):
        raise WrongUse(f"{path}: not a CSV file; the columns {','.join(_COLUMNS)} are needed") from None
    if not lines or lines[0][1] != _COLUMNS:
        raise WrongUse(f"{path}: line 1: the columns {','.join(_COLUMNS)} are needed")
    if len(lines) == 1:
        raise WrongUse(f"{path}: line 2: there is no row below the header")
    points = []
    for number, line in lines[1:]:
        where = f"{path}: line {number}"
        if len(line) != len(_COLUMNS):
            raise WrongUse(f"{where}: {len(line)} fields, {len(_COLUMNS)} are needed")
        nodes = _number(line[0], f"{where}, column nodes")
        if nodes != int(nodes) or not 2 <= nodes <= tollbar.max_ranks:
            raise WrongUse(f"{where}, column nodes: from 2 to {tollbar.max_ranks}, not {line[0]}")
        host_us, nic_us = (
            _number(text, f"{where}, column {name}")
            for text, name in zip(line[1:], _COLUMNS[1:], strict=True)
        )
        points.append(Point(int(nodes), host_us, nic_us))
    return points


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise WrongUse(f"{where}: '{text}' is not a number") from None
    if not math.isfinite(number) or number <= 0:
        raise WrongUse(f"{where}: a finite number above 0 is needed, not {text}")
    return number

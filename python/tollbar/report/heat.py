# SPDX-License-Identifier: Apache-2.0
"""Heat maps: a quantity over two numbers as colours, side by side with one scale each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Picture

from tollbar.backports import zip_equal
from tollbar.data.statistics import Interval
from tollbar.report import pictures
from tollbar.report.tables import times_text


@dataclass(frozen=True)
class Panel:
    """One map: the values by (x, y), and a place that is marked."""

    title: str
    values: Mapping[tuple[int, int], float]
    mark: tuple[int, int] | None = None
    mark_label: str = ""


def svg(name: str, panels: Sequence[Panel], x: str, y: str, quantity: str) -> str:
    """The panels as the text of a file; `quantity` with its unit stands at each scale."""
    drawn = Picture(figsize=(5.5 * len(panels), 4.5), layout="constrained")
    for axes, panel in zip_equal(drawn.subplots(1, len(panels), squeeze=False)[0], panels):
        xs, ys = (sorted({place[side] for place in panel.values}) for side in (0, 1))
        cells = [[panel.values.get((column, row), float("nan")) for column in xs] for row in ys]
        image = axes.imshow(cells, origin="lower", aspect="auto", cmap="viridis")
        axes.set_xticks(range(len(xs)), xs)
        axes.set_yticks(range(len(ys)), ys)
        axes.set(title=panel.title, xlabel=x, ylabel=y)
        if panel.mark:
            at = xs.index(panel.mark[0]), ys.index(panel.mark[1])
            axes.plot(*at, "*", color="white", markeredgecolor="black", markersize=16, label=panel.mark_label)
        drawn.colorbar(image, ax=axes, label=quantity)
    if any(panel.mark for panel in panels):
        drawn.legend(frameon=False, fontsize=8, loc="outside lower left")
    return pictures.svg(drawn, name)


_GREY = "#c8ccd1"
_MOST, _DARK = 2, 1.2  #: powers of ten: the ends of the scale, and where its colours are too dark for black letters


def cells(title: str, ratios: Mapping[tuple[str, str], Interval]) -> str:
    """Ratios by the names of row and column as the text of a file; grey where the interval is missing or holds 1."""
    rows, columns = (list(dict.fromkeys(place[side] for place in ratios)) for side in (0, 1))
    drawn = Picture(figsize=(2.5 + 0.75 * len(columns), 1.2 + 0.3 * len(rows)), layout="constrained")
    axes = drawn.subplots()
    sure = {place: math.log10(ratio.value) for place, ratio in ratios.items() if _is_certain(ratio)}
    values = [[sure.get((row, column), math.nan) for column in columns] for row in rows]
    axes.set_facecolor(_GREY)
    axes.imshow(values, aspect="auto", cmap="RdYlBu_r", vmin=-_MOST, vmax=_MOST)
    for (row, column), ratio in ratios.items():
        colour = "white" if abs(sure.get((row, column), 0)) > _DARK else "black"
        at = columns.index(column), rows.index(row)
        axes.text(*at, times_text(ratio.value), ha="center", va="center", fontsize=7, color=colour)
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.set_title(title, fontsize=9)
    return pictures.svg(drawn, "cells")


def _is_certain(ratio: Interval) -> bool:
    return ratio.low is not None and ratio.high is not None and not ratio.low <= 1 <= ratio.high

# SPDX-License-Identifier: Apache-2.0
"""Heat maps: a quantity over two numbers as colours, side by side with one scale each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure as Picture

from tollbar.report import pictures


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
    for axes, panel in zip(drawn.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
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

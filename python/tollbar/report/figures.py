# SPDX-License-Identifier: Apache-2.0
"""A figure is a value: curves between two axes. A page draws it as a chart, a file with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from tollbar.report import charts
from tollbar.report.charts import COLOURS, Line, Quantity, time_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture


@dataclass(frozen=True)
class Figure:
    """Curves over a number of participants, both axes logarithmic, with what has to be known to read them."""

    name: str
    caption: str
    lines: Sequence[Line]
    x: str
    y: str
    unit: str = "ns"  #: of y: ns, or nothing

    @property
    def _axes(self) -> tuple[Quantity, Quantity]:
        x = {"scale": "log2", "unit": "", "label": self.x}
        return x, {"scale": "log", "unit": self.unit, "label": self.y}

    @property
    def chart(self) -> Markup:
        """The figure in a page; empty without curves."""
        return Markup(charts.curves(self.name, self.lines, *self._axes) if self.lines else "")

    def picture(self) -> Picture:
        """The figure in a file."""
        from matplotlib.figure import Figure as Picture  # slow to load, and a table needs none of it
        from matplotlib.ticker import FuncFormatter

        drawn = Picture(figsize=(8, 5), layout="constrained")
        axes = drawn.subplots()
        for number, line in enumerate(self.lines):
            dashes = ("-", "--", ":", "-.")[number // COLOURS % 4]
            colour = f"C{number % COLOURS}"
            axes.plot(line.x, line.middle, color=colour, linestyle=dashes, marker=".", label=line.label)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:.0f}")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: time_text(y) if self.unit else f"{y:g}"))
        axes.set_xlabel(self.x)
        axes.set_ylabel(self.y)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, ncols=2, fontsize=8)
        return drawn


def drawn(*figures: Figure) -> list[Figure]:
    """The given cells that have curves."""
    return [figure for figure in figures if figure.lines]


def of_points(name: str, points: Mapping[str, Mapping[int, float]], x: str, y: str) -> Figure:
    """A curve for each label; y in plain numbers."""
    lines = [Line(label, list(each), list(each.values())) for label, each in points.items()]
    return Figure(name, "", lines, x, y, unit="")

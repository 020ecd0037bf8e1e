# SPDX-License-Identifier: Apache-2.0
"""Figures as SVG text to stand inside a page: they take the page's font and its light or dark colours."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from matplotlib.figure import Figure

from tollbar.report.charts import COLOURS

# Colours that no figure uses stand for the page's own ones, and are put in after drawing.
_INK, MUTED, _GRID = "#010101", "#010102", "#010103"
_SERIES = [f"#0102{number:02x}" for number in range(COLOURS)]
_PAGE = {_INK: "var(--ink)", MUTED: "var(--muted)", _GRID: "var(--grid)"} | {
    colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES)
}
#: Any: releases of matplotlib type the names of its settings differently.
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 11,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": _INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "axes.grid": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 10,
}


def series(number: int) -> str:
    """The colour of a page's series, for whoever draws a figure of another shape."""
    return _SERIES[number]


def as_text(figure: Figure, name: str, titles: Mapping[str, str] | None = None) -> str:
    """The figure's SVG for a page, with its name for those who cannot see it; `titles` are what a pointer is
    told about the parts with those ids."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = _for_page(text.getvalue(), titles or {})
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(name, quote=True)}"', 1)


def _for_page(svg: str, titles: Mapping[str, str]) -> str:
    """What may stand inside HTML: no prologue, no fixed size, ids of its own, the page's font and colours."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg\b[^>]*?)\swidth="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?)\sheight="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--font)", svg)
    svg = svg.replace("xlink:href", "href")
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)  # a hundredth of a point is less than a screen shows
    svg = re.sub(r'<g id="([^"]*)">', lambda found: _with_title(found, titles), svg)
    used = set(re.findall(r"#([\w-]+)[\")]", svg))
    svg = re.sub(r'\sid="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    return re.sub(r"#0102\d\d|#01010[123]", lambda colour: _PAGE[colour[0]], svg)


def _with_title(group: re.Match[str], titles: Mapping[str, str]) -> str:
    return f"{group[0]}<title>{escape(titles[group[1]])}</title>" if group[1] in titles else group[0]

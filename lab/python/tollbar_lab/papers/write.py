# SPDX-License-Identifier: Apache-2.0
"""Exhibits as files: a CSV and an SVG each, and one page that holds them all and loads nothing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from tollbar import files
from tollbar.report import html, pictures

from tollbar_lab.papers import panels
from tollbar_lab.papers.exhibit import Exhibit, Point
from tollbar_lab.papers.published import papers

_TEMPLATES = Path(__file__).parent / "templates"

COLUMNS = (
    "series", "x", "published", "model", "difference_pct", "measured", "low", "high", "counted", "predicted",
    "predicted_off_pct", "source",
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """An exhibit and its files; no picture where there is nothing to draw."""

    exhibit: Exhibit
    table: Path
    picture: Path | None


def write(exhibit: Exhibit, folder: Path) -> Written:
    """Writes the table and the picture of one exhibit."""
    within = folder / exhibit.paper
    within.mkdir(parents=True, exist_ok=True)
    table = within / f"{exhibit.slug}.csv"
    files.write(table, as_csv(exhibit))
    picture, figures = within / f"{exhibit.slug}.svg", panels.of(exhibit)
    name = f"{exhibit.paper}-{exhibit.slug}"
    if svg := exhibit.drawing or (figures and pictures.svg(pictures.panels(figures, panels.KINDS), name)):
        files.write(picture, svg)
    else:
        picture.unlink(missing_ok=True)  # of an earlier time
    return Written(exhibit, table, picture if svg else None)


def as_csv(exhibit: Exhibit) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(point, name)) for name in COLUMNS] for point in exhibit.points)
    return text.getvalue()


def _cell(value: object) -> object:
    return f"{value:.7g}" if isinstance(value, float) else value


def page(written: Sequence[Written], runs: Mapping[str, Mapping[str, Path]], folder: Path) -> str:
    """The index: the exhibits of each paper with picture, sentence and numbers.

    Papers that an earlier index of that folder has, and whose files are still there, keep their parts of it.
    """
    filters = {"number": _number, "image": _image, "uri": _uri, "panels": panels.of}
    index = folder / "index.html"
    before = index.read_text(encoding="utf-8") if index.is_file() else ""
    earlier, opening = dict(_SECTION.findall(before)), dict(_OPENING.findall(before))
    shown = []
    for name, paper in papers().items():
        entries = [entry for entry in written if entry.exhibit.paper == name]
        kept = earlier.get(name) if any((folder / name).glob("*.csv")) else None
        if entries or kept:
            shown.append((paper, entries, Markup(opening.get(name, "")), Markup(kept)))
    return html.render("reproduce.html.j2", filters, _TEMPLATES, papers=shown, runs=runs, known=_known)


#: The parts of a page that are about a paper, in its opening and below, and what is in them.
_OPENING = re.compile(r'<article id="about-([\w-]+)">\n(.*?)</article>', re.DOTALL)
_SECTION = re.compile(r'<section id="([\w-]+)">\n(.*?)</section>', re.DOTALL)


def _known(points: Sequence[Point]) -> list[Point]:
    """The points with a number: a drawing has none."""
    return [p for p in points if any(v is not None for v in (p.published, p.model, p.measured))]


def _number(value: float | str | None) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, (int, float)) else value


def _uri(table: Path) -> str:
    return html.address(table.read_bytes(), "text/csv")


def _image(svg: str) -> Markup:
    """A picture whose styles and scripts stay its own."""
    return Markup('<img alt="" src="{}">').format(html.address(svg.encode(), "image/svg+xml"))

# SPDX-License-Identifier: Apache-2.0
"""Exhibits as files: a CSV and an SVG each, and one page that holds them all and loads nothing."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from tollbar.papers import pictures
from tollbar.papers.exhibit import Exhibit, Point
from tollbar.papers.published import papers

COLUMNS = (
    "series",
    "x",
    "published",
    "model",
    "difference_pct",
    "measured",
    "low",
    "high",
    "counted",
    "predicted",
    "predicted_off_pct",
    "source",
)
_TEMPLATES = Path(__file__).parents[1] / "report" / "templates"


@dataclass(frozen=True)
class Written:
    """An exhibit and its files; no picture where there is nothing to draw."""

    exhibit: Exhibit
    table: Path
    picture: Path | None
    svg: str


def write(exhibit: Exhibit, folder: Path) -> Written:
    """Writes the table and the picture of one exhibit."""
    within = folder / exhibit.paper
    within.mkdir(parents=True, exist_ok=True)
    table = within / f"{exhibit.slug}.csv"
    table.write_text(as_csv(exhibit), encoding="utf-8")
    svg = pictures.picture(exhibit)
    picture = within / f"{exhibit.slug}.svg"
    if svg:
        picture.write_text(pictures.alone(svg), encoding="utf-8")
    else:
        picture.unlink(missing_ok=True)  # of an earlier time
    return Written(exhibit, table, picture if svg else None, svg)


def as_csv(exhibit: Exhibit) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(getattr(point, name)) for name in COLUMNS] for point in exhibit.points)
    return text.getvalue()


def _cell(value: object) -> object:
    return f"{value:.7g}" if isinstance(value, float) else value


def page(written: Sequence[Written], runs: Mapping[str, Path]) -> str:
    """The index: the exhibits of each paper with picture, sentence and numbers."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"number": _number, "svg": _markup, "uri": _uri}
    names = dict.fromkeys(entry.exhibit.paper for entry in written)
    return environment.get_template("reproduce.html.j2").render(
        papers=[(papers()[name], [entry for entry in written if entry.exhibit.paper == name]) for name in names],
        runs=runs,
        of=_known,
    )


def _known(points: Sequence[Point]) -> list[Point]:
    """The points with a number: a drawing has none."""
    return [p for p in points if any(v is not None for v in (p.published, p.model, p.measured))]


def _number(value: float | str | None) -> str:
    return "" if value is None else f"{value:.5g}" if isinstance(value, int | float) else value


def _markup(svg: str) -> Markup:
    if not pictures.stands_alone(svg):
        return Markup(svg)
    content = base64.b64encode(svg.encode()).decode()
    return Markup(f'<img alt="" src="data:image/svg+xml;base64,{content}">')


def _uri(table: Path) -> str:
    return "data:text/csv;base64," + base64.b64encode(table.read_bytes()).decode()

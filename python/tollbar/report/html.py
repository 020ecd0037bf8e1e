# SPDX-License-Identifier: Apache-2.0
"""Pages that load nothing: their templates, and files as addresses inside them."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from tollbar.report import charts

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, filters: dict[str, Any], folder: Path = _TEMPLATES, **values: Any) -> str:
    """The page that the template makes of these values; it lies in `folder`, and may include those of the report."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, _TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"chart": charts.chart, "time": charts.time_text} | filters
    return environment.get_template(template).render(values)


def address(content: bytes, kind: str) -> Markup:
    """The content as an address."""
    return Markup(f"data:{kind};base64,{base64.b64encode(content).decode()}")

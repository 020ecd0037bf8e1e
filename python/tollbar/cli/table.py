# SPDX-License-Identifier: Apache-2.0
"""What commands return, and the one place that prints it: as a table, as CSV or as JSON."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from typing import Any, TextIO

FORMATS = ("table", "csv", "json")


def column(meaning: str, detail: bool = False, **options: Any) -> Any:
    """A field of a row, with the meaning that `--help` shows. A detail is for CSV and JSON only.

    Options are those of dataclasses.field.
    """
    return dataclasses.field(metadata={"meaning": meaning, "detail": detail}, **options)


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of one dataclass; its field names are the columns' names in every format. CSV and JSON have all
    columns always, a table leaves out details and columns without any value.

    `row_type` must be given when there may be no rows. A row prints None as an empty cell (null in JSON).
    """

    rows: Sequence[Any]
    row_type: type | None = None
    text: str | None = None  #: printed instead of a table where the rows have a better written form
    failed: bool = False  #: a check failed: exit code 1
    notes: Sequence[str] = ()  #: lines for stderr after the table, in the format `table` only

    @property
    def columns(self) -> list[str]:
        return [field.name for field in self._fields()]

    @property
    def shown_columns(self) -> list[str]:
        """The columns of a table: no details, and none that is empty in every row."""
        brief = [field.name for field in self._fields() if not field.metadata.get("detail")]
        filled = [name for name in brief if any(getattr(row, name) is not None for row in self.rows)]
        return filled if self.rows else brief

    def _fields(self) -> tuple[dataclasses.Field[Any], ...]:
        return dataclasses.fields(self.row_type or type(self.rows[0]))

    def cells(self, columns: Sequence[str]) -> list[list[Any]]:
        return [[getattr(row, name) for name in columns] for row in self.rows]


def describe_columns(row_type: type) -> str:
    """The end of a command's `--help`: what each column means."""
    fields = dataclasses.fields(row_type)
    width = max(len(field.name) for field in fields)
    lines = [f"  {field.name:<{width}}  {field.metadata['meaning']}" for field in fields]
    return "columns:\n" + "\n".join(lines)


def write(table: Table, form: str, out: TextIO) -> None:
    """Prints the table on `out`."""
    if form == "csv":
        out.write(_as_csv(table))
    elif form == "json":
        out.write(_as_json(table))
    elif table.text is not None:
        out.write(table.text if table.text.endswith("\n") or not table.text else table.text + "\n")
    elif out.isatty():
        _print_rich(table, out)
    else:
        out.write(_as_plain(table))


def _as_csv(table: Table) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in table.cells(table.columns))
    return text.getvalue()


def _csv_cell(cell: Any) -> Any:
    return str(cell).lower() if isinstance(cell, bool) else cell


def _as_json(table: Table) -> str:
    columns = table.columns
    lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in table.cells(columns)]
    return "[\n" + ",\n".join("  " + line for line in lines) + "\n]\n" if lines else "[]\n"


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _right_aligned(table: Table) -> list[bool]:
    columns = table.shown_columns
    by_column = zip(*table.cells(columns), strict=True) if table.rows else [()] * len(columns)
    return [
        any(map(_is_number, cells)) and all(cell is None or _is_number(cell) for cell in cells)
        for cells in by_column
    ]


def _as_plain(table: Table) -> str:
    right = _right_aligned(table)
    columns = table.shown_columns
    lines = [columns, *([_shown(cell) for cell in row] for row in table.cells(columns))]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(line, widths, right, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def _print_rich(table: Table, out: TextIO) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False)
    for name, to_right in zip(table.shown_columns, _right_aligned(table), strict=True):
        shown.add_column(
            name,
            justify="right" if to_right else "left",
            overflow="fold",
            no_wrap=to_right,
            min_width=len(name),
        )
    for row in table.cells(table.shown_columns):
        shown.add_row(*(Text(_shown(cell)) for cell in row))
    Console(file=out).print(shown)

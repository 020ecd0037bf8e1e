# SPDX-License-Identifier: Apache-2.0
"""The result of a command, and the one place that prints it: as a table, as CSV or as JSON."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import io
import json
import math
import shutil
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, TextIO

from tollbar.backports import zip_equal
from tollbar.columns import column as column  # which begins every row of a command

FORMATS = ("table", "csv", "json")
_GAP = "  "
_WIDTH_OF_A_PIPE = 120
_HARD_BLANK = "\N{NO-BREAK SPACE}"
_LONG_WORD = 24  #: a column with a longer one, such as a path, is the first to give way


@dataclasses.dataclass(frozen=True)
class Table:
    """Rows of one dataclass; its field names are the columns' names in every format. CSV and JSON have all
    columns always, a table leaves out details and columns without any value.

    `row_type` must be given when there may be no rows. A row prints None as an empty cell (null in JSON).
    """

    rows: Sequence[Any]
    row_type: type | None = None
    text: str | Iterator[str] | None = None  #: printed instead of a table where the rows have a better written form
    brief: Sequence[Any] = ()  #: fewer rows of another dataclass, which a table shows in their place
    failed: bool = False  #: a check failed: exit code 1
    unknown: bool = False  #: the answer cannot be told: exit code 3, unless a check failed
    notes: Sequence[str] = ()  #: lines for stderr after the table, in the format `table` only
    digits: int = 6  #: significant digits of a number, in the format `table` only

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

    def texts(self, columns: Sequence[str]) -> list[list[str]]:
        """The cells as a table shows them, estimates with the ends of their intervals."""
        estimates = {field.name for field in self._fields() if field.metadata.get("ends")}
        return [
            [
                _shown(getattr(row, name), self.digits) + (self._ends(row, name) if name in estimates else "")
                for name in columns
            ]
            for row in self.rows
        ]

    def _ends(self, row: Any, name: str) -> str:
        """Nothing behind an empty cell or one that cannot differ, as a ratio to itself; a ? without an interval."""
        value, low, high = (getattr(row, name + end) for end in ("", "_low", "_high"))
        if value is None or low == high == value:
            return ""
        if low is None or high is None:
            return " (?)"
        return f" ({_shown(low, self.digits)} to {_shown(high, self.digits)})"


def describe_columns(row_type: type) -> str:
    """The end of a command's `--help`: what each column means."""
    fields = dataclasses.fields(row_type)
    width = max(len(field.name) for field in fields)
    lines = [f"  {field.name:<{width}}  {field.metadata['meaning']}" for field in fields]
    return "columns:\n" + "\n".join(lines)


def verb(
    commands: argparse._SubParsersAction, name: str, doc: str, columns: type | str | Callable[[], str]
) -> argparse.ArgumentParser:
    """A verb whose module has that `doc`, which begins with the line of `--help`, and prints these columns; a function
    says what they are when help is asked for, so that nothing heavy is loaded before."""
    about = doc.partition(": ")[2].partition("\n")[0]
    epilog = describe_columns(columns) if isinstance(columns, type) else columns
    return commands.add_parser(name, help=about, description=doc, epilog=epilog)  # type: ignore[arg-type]


def add_format(parser: argparse.ArgumentParser, default: str = "table") -> None:
    """Lets the user say how rows are printed."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--format",
        choices=FORMATS,
        default=default,
        metavar="FORM",
        help="table (default), csv or json; also --csv, --json",
    )
    for form in FORMATS[1:]:
        group.add_argument(
            f"--{form}", dest="format", action="store_const", const=form, default=default, help=argparse.SUPPRESS
        )


def write(table: Table, form: str, out: TextIO) -> None:
    """Prints the table on `out`, as wide as the terminal or COLUMNS says, else in 120 columns."""
    if form == "csv":
        out.write(_as_csv(table))
    elif form == "json":
        out.write(_as_json(table))
    elif isinstance(table.text, Iterator):
        out.writelines(table.text)
    elif table.text is not None:
        out.write(table.text if table.text.endswith("\n") or not table.text else table.text + "\n")
    else:
        table = dataclasses.replace(table, rows=table.brief, row_type=None) if table.brief else table
        out.write(_as_text(table, shutil.get_terminal_size((_WIDTH_OF_A_PIPE, 24)).columns))


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
    rows = (dict(zip_equal(columns, map(_json_cell, row))) for row in table.cells(columns))
    lines = [json.dumps(row, allow_nan=False) for row in rows]
    return "[\n" + ",\n".join("  " + line for line in lines) + "\n]\n" if lines else "[]\n"


def _json_cell(cell: Any) -> Any:
    """JSON has neither infinity nor what is no number: there is no value."""
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _shown(cell: Any, digits: int) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        whole = 10**digits <= abs(cell) < 10**6  # no exponent yet
        return f"{cell:.0f}" if whole else f"{cell:.{digits}g}"
    return str(cell)


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _right_aligned(table: Table) -> list[bool]:
    columns = table.shown_columns
    by_column = zip_equal(*table.cells(columns)) if table.rows else [()] * len(columns)
    return [
        any(map(_is_number, cells)) and all(cell is None or _is_number(cell) for cell in cells) for cells in by_column
    ]


def _as_text(table: Table, width: int) -> str:
    """The table in that many letters a line.

    Cells break between words, never inside one, and short ones only where no path could stand below; columns that
    have no room stand below their row, with their names.
    """
    right = _right_aligned(table)
    names = table.shown_columns
    lines = [names, *table.texts(names)]
    columns = list(zip_equal(*lines))
    widest = [max(map(len, column)) for column in columns]
    least = [
        size if numbers else max(len(word) for cell in column for word in cell.split() or [""])
        for column, size, numbers in zip_equal(columns, widest, right)
    ]
    least[0] = min(least[0], width // 3)  # a longer name makes its own row longer, not the others
    unbroken = [size if size <= _LONG_WORD else words for size, words in zip_equal(widest, least)]
    beside = list(range(len(names)))
    while _together(unbroken, beside) > width and (paths := [at for at in beside[1:] if least[at] > _LONG_WORD]):
        beside.remove(max(paths, key=least.__getitem__))
    while len(beside) > 1 and _together(least, beside) > width:
        odd = max(beside[1:], key=least.__getitem__)
        beside.remove(odd if least[odd] > _LONG_WORD else beside[-1])
    while _together(widest, beside) > width and any(widest[at] > least[at] for at in beside):
        widest[max((at for at in beside if widest[at] > least[at]), key=widest.__getitem__)] -= 1
    text = _laid_out(names, beside, widest, right)
    for line in lines[1:]:
        text += _laid_out(line, beside, widest, right)
        for name, cell in zip_equal(names, line):
            if cell and names.index(name) not in beside:
                below = _folded(f"{name}:{_HARD_BLANK}{cell}", width, indent="    ")
                text += "".join(part + "\n" for part in below).replace(_HARD_BLANK, " ")
    return text


def _together(widths: Sequence[int], columns: Sequence[int]) -> int:
    return sum(widths[at] for at in columns) + len(_GAP) * (len(columns) - 1)


def _laid_out(line: Sequence[str], columns: Sequence[int], widths: Sequence[int], right: Sequence[bool]) -> str:
    """The cells of one row, on as many lines as the longest cell needs."""
    folded = [_folded(line[at], widths[at]) or [""] for at in columns]
    return "".join(
        _GAP.join(
            part.rjust(widths[at]) if right[at] else part.ljust(widths[at]) for part, at in zip_equal(parts, columns)
        ).rstrip()
        + "\n"
        for parts in zip_longest(*folded, fillvalue="")
    )


def _folded(text: str, width: int, indent: str = "") -> list[str]:
    if len(indent) + len(text) <= width:
        return [indent + text] if text else []
    return textwrap.wrap(
        text,
        max(width, 1),
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )

# SPDX-License-Identifier: Apache-2.0
"""Tables are printed in one place, in three formats."""

import io
import json
from dataclasses import dataclass

from tollbar.cli.table import Table, column, describe_columns, write


@dataclass(frozen=True)
class Row:
    name: str = column("what it is called")
    count: int | None = column("how many there are")
    time_us: float = column("how long it took")
    ready: bool = column("whether it may start")


ROWS = [Row("a, b", 1, 0.1, True), Row("[bold]", None, 123456789.25, False)]


def printed(table, form, terminal=False):
    out = io.StringIO()
    out.isatty = lambda: terminal
    write(table, form, out)
    return out.getvalue()


def test_csv_quotes_and_keeps_every_digit():
    assert printed(Table(ROWS), "csv") == (
        'name,count,time_us,ready\n"a, b",1,0.1,true\n[bold],,123456789.25,false\n'
    )


def test_json_keeps_types_and_names():
    assert json.loads(printed(Table(ROWS), "json")) == [
        {"name": "a, b", "count": 1, "time_us": 0.1, "ready": True},
        {"name": "[bold]", "count": None, "time_us": 123456789.25, "ready": False},
    ]


def test_a_plain_table_is_aligned_and_has_no_trailing_blanks():
    assert printed(Table(ROWS), "table") == (
        "name    count      time_us  ready\na, b        1          0.1  yes\n[bold]         1.23457e+08  no\n"
    )


def test_a_table_on_a_terminal_shows_the_same_cells():
    shown = printed(Table(ROWS), "table", terminal=True)
    for cell in ("name", "count", "a, b", "[bold]", "1.23457e+08", "yes"):
        assert cell in shown


def test_no_rows_still_have_columns():
    empty = Table([], Row)
    assert printed(empty, "csv") == "name,count,time_us,ready\n"
    assert printed(empty, "json") == "[]\n"
    assert printed(empty, "table") == "name  count  time_us  ready\n"


def test_a_column_without_any_value_is_left_out_of_the_table_only():
    table = Table([Row("a", None, 1.0, True)])
    assert printed(table, "table") == "name  time_us  ready\na           1  yes\n"
    assert printed(table, "csv") == "name,count,time_us,ready\na,,1.0,true\n"


@dataclass(frozen=True)
class Detailed:
    name: str = column("what it is called")
    proof: str = column("how it is known", detail=True)


def test_a_detail_is_left_out_of_the_table_only():
    table = Table([Detailed("a", "because")])
    assert printed(table, "table") == "name\na\n"
    assert printed(table, "csv") == "name,proof\na,because\n"
    assert printed(Table([], Detailed), "table") == "name\n"


def test_text_stands_in_for_the_table_only():
    table = Table(ROWS, text="words")
    assert printed(table, "table") == "words\n"
    assert printed(table, "csv").startswith("name,count")
    assert printed(Table(ROWS, text=""), "table") == ""


def test_every_column_is_described():
    assert describe_columns(Row).splitlines()[1:] == [
        "  name     what it is called",
        "  count    how many there are",
        "  time_us  how long it took",
        "  ready    whether it may start",
    ]

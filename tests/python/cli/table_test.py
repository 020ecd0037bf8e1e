# SPDX-License-Identifier: Apache-2.0
"""Tables are printed in one place, in three formats."""

import io
import json
from dataclasses import dataclass

import pytest
from tollbar.cli.table import Table, column, describe_columns, write


@dataclass(frozen=True)
class Row:
    name: str = column("what it is called")
    count: int | None = column("how many there are")
    time_us: float = column("how long it took")
    ready: bool = column("whether it may start")


ROWS = [Row("a, b", 1, 0.1, True), Row("[bold]", None, 123456789.25, False)]


@pytest.fixture(autouse=True)
def _no_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)


def printed(table, form):
    out = io.StringIO()
    write(table, form, out)
    return out.getvalue()


def test_csv_quotes_and_keeps_every_digit():
    assert printed(Table(ROWS), "csv") == ('name,count,time_us,ready\n"a, b",1,0.1,true\n[bold],,123456789.25,false\n')


def test_json_keeps_types_and_names():
    assert json.loads(printed(Table(ROWS), "json")) == [
        {"name": "a, b", "count": 1, "time_us": 0.1, "ready": True},
        {"name": "[bold]", "count": None, "time_us": 123456789.25, "ready": False},
    ]


def test_a_plain_table_is_aligned_and_has_no_trailing_blanks():
    assert printed(Table(ROWS), "table") == (
        "name    count      time_us  ready\na, b        1          0.1  yes\n[bold]         1.23457e+08  no\n"
    )


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0334258, "0.0334"), (271.06, "271"), (64428.34, "64428"), (1.0, "1"), (2.5e7, "2.5e+07")]
)
def test_a_table_may_ask_for_fewer_digits(value, shown):
    rows = [Row("a", 1, value, True)]
    assert printed(Table(rows, digits=3), "table").split()[-2] == shown
    assert str(value) in printed(Table(rows, digits=3), "csv")


@dataclass(frozen=True)
class Estimate:
    ratio: float | None = column("how many times", ends=True)
    ratio_low: float | None = column("lower end", detail=True)
    ratio_high: float | None = column("upper end", detail=True)


def test_an_estimate_stands_with_the_ends_of_its_interval_or_a_question_mark():
    rows = [
        Estimate(1.2345, 1.1, 1.3456),
        Estimate(2.0, None, None),
        Estimate(1.0, 1.0, 1.0),
        Estimate(None, None, None),
    ]
    lines = [line.strip() for line in printed(Table(rows, digits=3), "table").splitlines()]
    assert lines == ["ratio", "1.23 (1.1 to 1.35)", "2 (?)", "1", ""]
    assert printed(Table(rows[:1]), "csv") == "ratio,ratio_low,ratio_high\n1.2345,1.1,1.3456\n"


@dataclass(frozen=True)
class Wide:
    name: str = column("what it is called")
    count: int = column("how many there are")
    why: str = column("why")
    remedy: str | None = column("what to do")


def test_cells_break_between_words_where_a_line_is_too_short(monkeypatch):
    monkeypatch.setenv("COLUMNS", "29")
    table = Table([Wide("one", 1, "because of the weather", None), Wide("two-fold", 2, "no", None)])
    assert printed(table, "table") == (
        "name      count  why\none           1  because of\n                 the weather\ntwo-fold      2  no\n"
    )


def test_what_has_no_room_stands_below_its_row(monkeypatch):
    monkeypatch.setenv("COLUMNS", "18")
    table = Table([Wide("one", 1, "weather", "umbrella it is"), Wide("two", 2, "nothing", None)])
    assert printed(table, "table") == (
        "name  count\none       1\n    why: weather\n    remedy: umbrella\n    it is\ntwo       2\n    why: nothing\n"
    )


def test_a_path_stands_below_its_row_before_anything_else_does(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = "/a/folder/with/a/long/name/and/file"
    assert printed(Table([Wide("one", 1, path, "none")]), "table") == (
        f"name  count  remedy\none       1  none\n    why: {path}\n"
    )


def test_a_table_in_a_pipe_has_at_most_120_columns():
    table = Table([Wide("one", 1, "because " * 30, "umbrella " * 30)] * 3)
    assert max(map(len, printed(table, "table").splitlines())) <= 120


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


def test_json_has_no_value_where_a_number_is_infinite_or_none():
    rows = [Row("a", 1, float("inf"), True), Row("b", 2, float("nan"), True)]
    told = printed(Table(rows), "json")
    parsed = json.loads(told, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert [row["time_us"] for row in parsed] == [None, None]


@dataclass(frozen=True)
class Late:
    place: str = column("where")
    path: str = column("a file")
    late: str = column("who")
    seconds: float = column("how long")
    what: str = column("on what")


def test_short_cells_stay_whole_where_a_path_can_stand_below(monkeypatch):
    path = "/a/folder/that/has/a/long/name/program.c+0x1234"
    rows = [Late("main", path, "rank 2", 1.5, "communicator 0")]
    monkeypatch.setenv("COLUMNS", "85")
    lines = printed(Table(rows), "table").splitlines()
    assert [line for line in lines if "rank 2  " in line and "1.5" in line and "communicator 0" in line]
    assert lines[-1] == f"    path: {path}"

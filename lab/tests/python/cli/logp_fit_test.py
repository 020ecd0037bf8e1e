# SPDX-License-Identifier: Apache-2.0
"""tollbar logp fit."""

from pathlib import Path

import pytest

TABLE_1 = Path(__file__).parents[4] / "tests" / "golden" / "logp_table1.csv"
COLUMNS = "kind,name,identified,plan,ranks,us,low_us,high_us,price_us,off_pct,fitted,fits"


@pytest.fixture
def table(tmp_path):
    def write(text):
        path = tmp_path / "rows.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_table_1_of_the_logp_paper_fits_but_for_its_central_rows(tollbar):
    said = tollbar("logp", "fit", TABLE_1, "--without", "central", "--format", "json")
    assert said.code == 0
    barriers = [row for row in said.json if row["kind"] == "barrier"]
    assert len(barriers) == 10
    for row in barriers:
        assert row["fits"] == row["fitted"] == (row["plan"] != "central")
        assert row["off_pct"] == pytest.approx(100 * (row["price_us"] / row["us"] - 1))
    assert [row["name"] for row in said.json if row["kind"] == "parameter"] == ["t", "f"]


def test_the_columns_are_stable(tollbar):
    assert tollbar("logp", "fit", TABLE_1, "--format", "csv").out.splitlines()[0] == COLUMNS
    assert list(tollbar("logp", "fit", TABLE_1, "--format", "json").json[0]) == COLUMNS.split(",")


def test_the_written_form_says_what_the_data_cannot_tell_and_why_a_plan_does_not_fit(tollbar):
    out = tollbar("logp", "fit", TABLE_1, "--without", "central", "--model", "L,o,g").out
    assert "8 rows identify 2 numbers of 3; root mean square of their residuals 3.5 %." in out
    assert "The data do not identify L: every value from 0 to 261.4 us gives the same prices." in out
    assert "The data do not identify o: every value from 0 to 130.7 us gives the same prices." in out
    assert "central is up to 1628 % off.\n  With 261.4 us for a message on the longest path, fitting it alone" in out
    assert "tournament is up to" not in out


def test_other_columns_and_any_order_are_fine(tollbar, table):
    path = table('note,us,ranks,plan\nfirst, 20 ,2,dissemination\n\nsecond,40,4,"mcs:4,2"\n')
    rows = tollbar("logp", "fit", path, "--format", "json").json
    assert [row["plan"] for row in rows if row["kind"] == "barrier"] == ["dissemination", "mcs:4,2"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "line 1: column plan is needed once, it is empty"),
        ("plan,ranks\nmcs,4\n", "line 1: column us is needed once, it has plan,ranks"),
        ("plan,us,ranks,us\n", "line 1: column us is needed once, it has plan,us,ranks,us"),
        ("plan,ranks,us\n", "line 2: there is no row below the header"),
        ("plan,ranks,us\nmcs,4,10\nmcs,8,fast\n", "line 3, column us: 'fast' is not a number of microsec"),
        ("plan,ranks,us\nmcs,4,-1\n", "line 2, column us: '-1' is not a number of microseconds above 0"),
        ("plan,ranks,us\nmcs,4,nan\n", "line 2, column us: 'nan' is not a number of microseconds above 0"),
        ("plan,ranks,us\nmcs,4,inf\n", "line 2, column us: 'inf' is not a number of microseconds above 0"),
        ("plan,ranks,us\nmcs,4\n", "line 2, column us: '' is not a number of microseconds above 0"),
        ("plan,ranks,us\nmcs,1,10\n", "line 2, column ranks: '1' is not a number of ranks from 2 to 16777216"),
        ("plan,ranks,us\nmcs,many,10\n", "line 2, column ranks: 'many' is not a number of ranks from 2 to 1"),
        ("plan,ranks,us\nmcx,4,10\n", "line 2, column plan: plan 'mcx': there is no algorithm 'mcx'"),
        ("plan,ranks,us\nmcs:4,2,8,10\n", "line 2: more fields than columns; quote a value that has a comma"),
        (b"\xff\xfe\x00\x01", "not a text file"),
    ],
)
def test_a_bad_table_is_one_line_that_names_line_and_column(tollbar, table, text, line):
    path = table(text)
    said = tollbar("logp", "fit", path)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"tollbar logp: {path}: {line}")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--without", "mcs"), "--without mcs: FILE has bst, central, combining:4, dissemination, tournament"),
        (("--model", "LogGP"), "argument --model: invalid choice: 'LogGP'"),
        (
            [f"--without={plan}" for plan in ("bst", "central", "combining:4", "dissemination", "tournament")],
            "--without leaves no row of FILE to fit",
        ),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(tollbar, arguments, line):
    said = tollbar("logp", "fit", TABLE_1, *arguments)
    assert (said.code, said.out) == (2, "")
    assert line.replace("FILE", str(TABLE_1)) in said.err
    assert said.err.count("\n") == 1


def test_a_file_that_is_not_there_is_named(tollbar, tmp_path):
    said = tollbar("logp", "fit", tmp_path / "nothing.csv")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"tollbar logp: {tmp_path / 'nothing.csv'}: No such file or directory\n"

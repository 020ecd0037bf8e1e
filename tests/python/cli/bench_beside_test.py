# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --beside, with replays in place of the measuring programs."""

import re

import pytest
from tollbar.data import results

BESIDE = ("--beside", "alone,neighbour", "--compute", "0,20~0.5", "--effort", "launches=1,seed=1")
SMALL = ("--ranks", 8, *BESIDE)


@pytest.fixture
def bench(tollbar, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    return lambda *arguments: tollbar("bench", *arguments)


def test_a_row_a_cell_says_the_best_and_everybody_s_ratio_to_it(bench):
    said = bench("threads", *SMALL, "--format", "json")
    assert said.code == 0, said.err
    assert len(said.json) == 2 * 2 * 2
    row = next(
        row for row in said.json if (row["beside"], row["ranks"], row["free"], row["work"]) == ("one", 8, True, "0")
    )
    assert row["best"] == "park"
    assert row["us"] == pytest.approx(20, rel=0.1)
    assert row["auto"] == pytest.approx(22 / 20, rel=0.1)
    assert row["std"] == pytest.approx(2000 / 20, rel=0.1)
    assert (row["spins"], row["tuned"], row["others"]) == (None, None, None)
    assert "auto n = 1, no interval; " in row["intervals"]


def test_every_ratio_of_six_launches_has_its_interval(bench):
    words = ("--ranks", 8, "--beside", "neighbour", "--compute", "0", "--effort", "launches=6,seed=1")
    (row,) = (row for row in bench("threads", *words, "--format", "json").json if row["free"])
    intervals = dict(re.findall(r"(\S+) (\S+ to \S+)(?:; |$)", row["intervals"]))
    for name in ("auto", "group", "yields", "parks", "pthread", "std", "gomp", "omp"):
        low, high = map(float, intervals[name].split(" to "))
        assert low <= row[name] * 1.01
        assert row[name] <= high * 1.01


def test_the_table_fits_a_hundred_columns(bench, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = bench("threads", *SMALL).out.splitlines()
    assert len(lines) == 1 + 8
    assert max(map(len, lines)) <= 100
    assert lines[0].split()[:7] == ["beside", "ranks", "free", "work", "best", "us", "auto"]


def test_a_line_for_each_neighbour_says_how_many_cells_are_far_for_certain_and_how_many_may_be(bench):
    said = bench("threads", *SMALL)
    told = r"certainly in 0, possibly in 4 of 4 cells; n = \d, no interval\n"
    for beside in ("alone", "one"):
        assert re.search(f"^{beside}: auto over 1.25 times the best: {told}", said.err, re.MULTILINE)
        assert re.search(f"^{beside}: group over 1.25 times the best: {told}", said.err, re.MULTILINE)


def test_names_stand_side_by_side(bench):
    said = bench("threads", "turnstile", "combination", *SMALL, "--format", "json")
    row = next(row for row in said.json if (row["beside"], row["ranks"], row["work"]) == ("one", 8, "0"))
    assert (row["best"], row["others"].partition(" ")[0]) == ("turnstile", "combination")
    assert float(row["others"].partition(" ")[2]) == pytest.approx(30 * 19 / 20, rel=0.1)


def test_quick_is_about_what_users_have_beside_a_neighbour(bench, tmp_path):
    assert bench("threads", "--beside", "neighbour", "--effort", "quick").code == 0
    run = results.read(results.newest(tmp_path / "results", "neighbours"))
    assert {(each.environment["ranks"], each.environment["placement"]) for each in run.launches} == {(8, "free")}
    names = {record["name"] for each in run.launches for record in each.records["turns"]}
    assert names == {"tollbar::barrier", "std::barrier"}

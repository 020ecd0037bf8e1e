# SPDX-License-Identifier: Apache-2.0
"""tollbar bench threads --beside, with replays in place of the measuring programs."""

import re

import pytest
from tollbar.data import results

BESIDE = ("--beside", "alone,neighbour", "--compute", "0,20~0.5", "--launches", "1", "--seed", "1")
SMALL = ("--ranks", 8, *BESIDE)


@pytest.fixture
def bench(tollbar, programs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    return lambda *arguments: tollbar("bench", *arguments)


def cell(said, where, compute=None):
    """The rows of a situation by their barrier, the fastest first."""
    return {row["barrier"]: row for row in said.json if (row["where"], row["compute"]) == (where, compute)}


def test_a_row_is_a_turn_of_a_barrier_beside_somebody(bench):
    said = bench("threads", *SMALL, "--format", "json")
    assert said.code == 0, said.err
    situations = {(row["where"], row["ranks"], row["compute"]) for row in said.json}
    placed = ("free", "pinned", "beside a busy neighbour, free", "beside a busy neighbour, pinned")
    assert situations == {(where, 8, compute) for where in placed for compute in (None, "20~0.5")}
    rows = cell(said, "beside a busy neighbour, free")
    assert next(iter(rows)) == "tollbar::barrier (park)"
    assert rows["tollbar::barrier (park)"]["period_us"] == pytest.approx(20, rel=0.1)
    assert rows["tollbar::barrier"]["fastest"] == pytest.approx(22 / 20, rel=0.1)
    assert rows["std::barrier"]["fastest"] == pytest.approx(2000 / 20, rel=0.1)
    assert rows["tollbar::barrier"]["today"] == pytest.approx(22 / 2000, rel=0.1)
    assert not {"tollbar::barrier (spin)", "tuned group"} & rows.keys()
    assert rows["tollbar::barrier"]["today_low"] is None  # one launch


def test_every_ratio_of_six_launches_has_its_interval(bench):
    words = ("--ranks", 8, "--beside", "neighbour", "--compute", "0", "--launches", "6", "--seed", "1")
    rows = cell(bench("threads", *words, "--format", "json"), "beside a busy neighbour, free")
    assert {"tollbar::barrier", "group", "pthread_barrier", "std::barrier", "libgomp", "libomp"} <= rows.keys()
    for row in rows.values():
        assert row["today_low"] <= row["today"] * 1.01
        assert row["today"] <= row["today_high"] * 1.01


def test_a_line_for_each_neighbour_says_how_many_cells_are_far_for_certain_and_how_many_may_be(bench):
    said = bench("threads", *SMALL)
    told = r"certainly in 0, possibly in 4 of 4 cells; n = \d, no interval\n"
    for beside in ("alone", "beside a busy neighbour"):
        assert re.search(f"^{beside}: tollbar::barrier over 1.25 times the best: {told}", said.err, re.MULTILINE)
        assert re.search(f"^{beside}: group over 1.25 times the best: {told}", said.err, re.MULTILINE)


def test_names_stand_side_by_side(bench):
    said = bench("threads", "turnstile", "combination", *SMALL, "--format", "json")
    rows = cell(said, "beside a busy neighbour, free")
    assert list(rows) == ["turnstile", "combination"]
    assert rows["combination"]["fastest"] == pytest.approx(30 * 19 / 20, rel=0.1)


def test_quick_is_about_what_users_have_beside_a_neighbour(bench, tmp_path):
    assert bench("threads", "--beside", "neighbour", "--effort", "quick").code == 0
    run = results.read(results.newest(tmp_path / "results", "threads"))
    assert {(each.environment["ranks"], each.environment["placement"]) for each in run.launches} == {(8, "free")}
    names = {record["name"] for each in run.launches for record in each.records["turns"]}
    assert names == {"tollbar::barrier", "std::barrier"}

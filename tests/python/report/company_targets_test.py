# SPDX-License-Identifier: Apache-2.0
"""The targets over all cells of a run in company."""

import pytest
from tollbar.data import samples
from tollbar.report import targets


@pytest.fixture
def rows(stored_company):
    def evaluated(**asked):
        return targets.evaluate(samples.read([stored_company(**asked)]))

    return evaluated


def find(rows, case, **where):
    return next(
        row for row in rows
        if row.case.startswith(case) and all(getattr(row, name) == value for name, value in where.items())
    )  # fmt: skip


def test_the_worst_cell_decides_and_is_named(rows):
    row = find(rows(ranks=(2, 8)), "turn / that of the best way to wait, nothing computed")
    assert row.verdict == "met"
    assert row.value == pytest.approx(1.1, rel=0.1)
    assert row.low <= row.value <= row.high
    assert "nothing between" in row.case


def test_cells_that_are_far_are_counted_by_the_share_that_is_allowed(rows, replay, monkeypatch):
    monkeypatch.setitem(replay.TURNS, "tollbar::barrier+auto", ("barrier", 1.0, 50.0))
    row = find(rows(ranks=(2, 8), workloads="0"), "cells above 1.25")
    assert (row.value, row.target, row.verdict) == (4, "at most 0 of 8", "missed")


def test_a_tie_with_pthread_barrier_is_allowed(rows, replay, monkeypatch):
    monkeypatch.setitem(replay.TURNS, "tollbar::barrier+auto", ("barrier", 1.0, 25.0))
    assert find(rows(workloads="0"), "turn / that of pthread").verdict.startswith(("tie", "met"))
    monkeypatch.setitem(replay.TURNS, "tollbar::barrier+auto", ("barrier", 1.0, 75.0))
    row = find(rows(ranks=(8,), workloads="0"), "turn / that of pthread")
    assert (row.verdict, row.value) == ("missed in 2 of 4 cells", pytest.approx(3, rel=0.1))


def test_single_cells_are_judged_by_their_time(rows):
    found = rows(ranks=(8,))
    row = find(found, "turn, us", ranks=8, target="at most 25")
    assert (row.value, row.placement, row.verdict) == (pytest.approx(22, rel=0.1), "pinned", "met")
    assert find(found, "turn, us", target="at most 60").verdict == "not measured in this run"


def test_a_run_of_another_bench_has_none_of_them(stored):
    assert not [
        row for row in targets.evaluate(samples.read([stored(ranks=(2,))])) if "way to wait" in row.case
    ]

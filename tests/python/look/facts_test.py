# SPDX-License-Identifier: Apache-2.0
"""Ranks that keep account of their calls tell of these beside a look at them, or in place of one that is refused."""

from __future__ import annotations

import pytest
from tollbar import _native
from tollbar.look import facts, helper, jobs, members, processes, sight

SEEN = facts.Facts(sight.Sight((), ()), {7: (0, 2)}, jobs.Job((), True))


@pytest.fixture
def order(monkeypatch) -> list[str]:
    """The order of what happens where one rank keeps account."""
    happened: list[str] = []

    def rows_in(file, apart_s, meanwhile):
        happened.append(f"{file} before")
        meanwhile()
        happened.append(f"{file} after")
        return f"rows of {file}"

    def of(wanted, there, between):
        between()
        happened.append("looked")
        return SEEN

    monkeypatch.setattr(processes, "ranks", lambda *_: {7: (0, 2)})
    monkeypatch.setattr(processes, "seats", lambda _: {"a"})
    monkeypatch.setattr(_native, "rows_in", rows_in)
    monkeypatch.setattr(facts, "of", of)
    return happened


def watched(order: list[str]) -> facts.Facts:
    return facts.watched([7], {}, lambda: order.append("all hosts"), 0.1)


def test_rows_are_of_waits_that_outlast_the_moment_in_which_all_hosts_look(order):
    assert watched(order).rows == ("rows of a",)
    assert order == ["a before", "all hosts", "looked", "a after"]


def test_several_jobs_of_a_host_are_looked_at_around_that_moment(order, monkeypatch):
    monkeypatch.setattr(processes, "seats", lambda _: {"a", "b"})
    assert watched(order).rows == ("rows of a", "rows of b")
    assert order == ["a before", "b before", "all hosts", "looked", "b after", "a after"]


def test_without_accounts_there_is_the_look_alone(order, monkeypatch):
    monkeypatch.setattr(processes, "seats", lambda _: set())
    assert watched(order) == SEEN
    assert order == ["all hosts", "looked"]


def test_an_account_of_another_version_gives_empty_rows(order, monkeypatch):
    def refuse(*_):
        raise RuntimeError

    monkeypatch.setattr(_native, "rows_in", refuse)
    assert watched(order).rows == ("",)
    assert order == ["all hosts", "looked"]


def test_a_look_that_is_refused_leaves_the_rows(order, monkeypatch):
    def refuse(*_):
        raise facts.Refused("not permitted")

    monkeypatch.setattr(facts, "of", refuse)
    told = watched(order)
    assert (told.rows, told.refused, told.rank_of) == (("rows of a",), ("not permitted",), {7: (0, 2)})
    assert order == ["a before", "all hosts", "a after"]
    monkeypatch.setattr(processes, "seats", lambda _: set())
    with pytest.raises(facts.Refused, match="not permitted"):
        watched(order)


def test_a_rank_whose_mpi_was_not_loaded_at_the_first_look_is_not_gone(monkeypatch):
    found = iter([{7: (0, 2)}, {7: (0, 2), 8: (1, 2)}])
    monkeypatch.setattr(processes, "ranks", lambda *_: next(found))
    monkeypatch.setattr(processes, "below", lambda *_: [])
    monkeypatch.setattr(processes, "refusal", lambda _: None)
    monkeypatch.setattr(helper, "look", lambda *_: {})
    monkeypatch.setattr(sight, "read", lambda _: sight.Sight((), ()))
    monkeypatch.setattr(members, "of_job", lambda *_: jobs.Job((), True))
    assert facts.of([7], {}).rank_of == {7: (0, 2), 8: (1, 2)}

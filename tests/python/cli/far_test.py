# SPDX-License-Identifier: Apache-2.0
"""Ranks of several hosts are believed about their calls where all of them tell these."""

from __future__ import annotations

import pytest
from tollbar import _native
from tollbar.cli import far
from tollbar.look import facts, jobs, sight


class Line:
    named = (1,)


@pytest.fixture(autouse=True)
def concluding(monkeypatch):
    monkeypatch.setattr(_native, "Rows", lambda text: text if text != "bad" else int(text))
    monkeypatch.setattr(_native, "conclude", lambda hosts, tells_time: [Line()] if not tells_time else [])


def host(rank: int, *rows: str) -> facts.Facts:
    return facts.Facts(sight.Sight((), ()), {rank: (rank, 2)}, jobs.Job((), False), rows=rows)


def test_rows_of_all_hosts_give_conclusions_that_tell_no_time():
    assert len(far._calls([host(0, "of 0"), host(1, "of 1"), facts.NOTHING])) == 1


@pytest.mark.parametrize("other", [host(1), host(1, ""), host(1, "bad")])
def test_ranks_that_tell_nothing_or_have_moved_leave_the_conclusion_to_their_frames(other):
    assert far._calls([host(0, "of 0"), other]) == []

# SPDX-License-Identifier: Apache-2.0
"""The lines that ranks give at their end become sums over all of them."""

from __future__ import annotations

import pytest
from tollbar.data import accounts

PLACE = "MPI_Allreduce\tMPI_COMM_WORLD\t3\t./x+0x1\tabc\t7"


def lines(*records: str) -> list[str]:
    return [*(f"rank\t{rank}\th\t{100.0 + rank}\t110.000000000" for rank in (2, 0, 1)), *records]


def test_waits_for_one_rank_in_one_place_are_one_sum_of_all_that_waited():
    account = accounts.read(
        lines(
            f"sum\t1\t{PLACE}\t2\t3\t1.5",
            f"sum\t0\t{PLACE}\t2\t2\t2.5",
            f"sum\t0\t{PLACE}\t1\t1\t0.5",
            f"sum\t0\t{PLACE.replace('0x1', '0x2')}\t-1\t1\t9.0",
            f"wait\t0\t{PLACE}\t2\t7\t101.0\t102.25",
        )
    )
    assert account.ranks == {0: "h", 1: "h", 2: "h"}
    assert account.files == {"./x+0x1": ("abc", 7), "./x+0x2": ("abc", 7)}
    named = account.with_names({"./x+0x1": "main (x.c:3)"})
    assert {each.place[2] for each in named.sums} == {"main (x.c:3)", "./x+0x2"}
    assert named.longest[0].place[2] == "main (x.c:3)"
    assert account.lasted_s == 10.0
    assert [(each.late, each.by, each.waits, each.waited_s, each.longest_s) for each in account.sums] == [
        (-1, (0,), 1, 9.0, None), (2, (0, 1), 5, 4.0, 1.25), (1, (0,), 1, 0.5, None),
    ]  # fmt: skip
    assert account.waited_s == pytest.approx(13.5)
    assert account.late() == {-1: 9.0, 2: 4.0, 1: 0.5}
    assert (account.longest[0].begin_s, account.longest[0].end_s) == (1.0, 2.25)
    assert [accounts.name_of(late) for late in account.late()] == ["a rank of another host", "rank 2", "rank 1"]


def test_without_a_rank_that_has_ended_there_is_no_account():
    assert accounts.read([]) is None

# SPDX-License-Identifier: Apache-2.0
"""Runs of the ranks of one step join that of rank 0: it hears their lines, they hear that they are to end, and nobody
else is heard."""

from __future__ import annotations

import socket
import time

import pytest
from tollbar.machine import keeper, runs

LIMIT_S = 60
LOOPBACK = "127.0.0.1"


@pytest.fixture
def kept():
    with keeper.Keeper(LOOPBACK) as made:
        yield made


def until(is_so) -> bool:
    end = time.monotonic() + LIMIT_S
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


def heard(kept: keeper.Keeper, count: int) -> list[bytes]:
    lines: list[bytes] = []
    assert until(lambda: lines.extend(kept.joined.new()) or len(lines) >= count), lines
    return lines


def test_lines_of_all_runs_come_to_that_of_rank_0(kept):
    joined = [runs.Joining(kept.value) for _ in range(5)]
    for number, one in enumerate(joined):
        one.pass_on(b"first of %d\n" % number)
        one.pass_on(b"second of %d\n" % number)
    lines = heard(kept, 10)
    assert sorted(lines) == sorted(
        b"%s of %d" % (word, number) for number in range(5) for word in (b"first", b"second")
    )
    assert all(lines.index(b"first of %d" % n) < lines.index(b"second of %d" % n) for n in range(5))


def test_all_of_them_are_told_to_end(kept):
    joined = [runs.Joining(kept.value) for _ in range(3)]
    assert until(lambda: kept.joined.count == 3)
    assert not any(one.is_to_end() for one in joined)
    kept.joined.end()
    assert until(lambda: all(one.is_to_end() for one in joined))


def test_a_run_that_is_over_is_joined_no_more(kept):
    one, other = runs.Joining(kept.value), runs.Joining(kept.value)
    assert until(lambda: kept.joined.count == 2)
    one.close()
    assert until(lambda: kept.joined.count == 1)
    other.pass_on(b"on\n")
    assert heard(kept, 1) == [b"on"]


def test_the_end_of_the_first_run_ends_no_other():
    with keeper.Keeper(LOOPBACK) as kept:
        one = runs.Joining(kept.value)
        assert until(lambda: kept.joined.count == 1)
    for _ in range(3):
        one.pass_on(b"nobody hears it\n")
        assert not one.is_to_end()


def test_another_secret_joins_nothing_and_believes_nothing(kept):
    with pytest.raises(ConnectionError, match="another run"):
        runs.Joining("1" * 32 + kept.value[32:])
    assert kept.joined.count == 0


def test_what_a_stranger_says_behind_an_end_is_none(kept):
    one = runs.Joining(kept.value)
    one._heard = b"end 0123456789abcdef\n"
    assert not one.is_to_end()


def test_a_keeper_of_one_run_is_joined_by_none():
    with keeper.Keeper() as kept, pytest.raises(ConnectionError):
        runs.Joining(f"{kept.value}:{LOOPBACK}")


def test_a_run_for_which_there_is_no_room_is_told_so(kept, monkeypatch):
    monkeypatch.setattr(kept.joined, "_room", 1)
    first = runs.Joining(kept.value)
    assert until(lambda: kept.joined.count == 1)
    with pytest.raises(ConnectionError):
        runs.Joining(kept.value)
    assert first.is_joined


def test_a_line_that_is_too_long_ends_the_connection(kept):
    one = runs.Joining(kept.value)
    one.pass_on(b"x" * (1 << 20) + b"\n")
    assert until(lambda: kept.joined.count == 0)
    assert kept.joined.new() == []


def test_who_takes_no_lines_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(runs, "_LATE_S", 0.2)
    with keeper.Keeper(LOOPBACK) as kept:
        one = runs.Joining(kept.value)
        monkeypatch.setattr(kept.joined, "_hear", lambda _: time.sleep(0.05))
        since = time.monotonic()
        while one.is_joined and time.monotonic() - since < LIMIT_S:
            one.pass_on(b"x" * 60000 + b"\n")
        assert not one.is_joined


def test_where_nobody_listens_nothing_is_joined():
    with socket.create_server((LOOPBACK, 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(OSError, match="refused"):
        runs.Joining(f"{'0' * 32}:{port}:{LOOPBACK}")

# SPDX-License-Identifier: Apache-2.0
"""Profiles on disk, as tollbar simulate scheduler reads them."""

import pytest


def simulate(tollbar, *arguments):
    return tollbar("simulate", "scheduler", *arguments, "--csv").csv


def refusal(tollbar, *arguments):
    return tollbar("simulate", "scheduler", *arguments).refusal


def test_a_profile_is_replayed(tollbar, tmp_path):
    path = tmp_path / "profile.csv"
    path.write_text("thread,compute_us\n0,1000\n1,2000\n0,3000\n1,1000\n")
    (row,) = simulate(
        tollbar, "tree", "--waiting", "spin", "--cpus", 2, "--kernel", "paper,switch=0", "--compute", path
    )
    assert float(row["completed_us"]) == 5000
    assert (row["threads"], row["barriers"], row["compute_us"]) == ("2", "2", "")


def test_a_profile_with_messages_is_replayed(tollbar, tmp_path):
    """Thread 1 computes once the message of thread 0 is there; then both meet."""
    path = tmp_path / "profile.csv"
    path.write_text(
        "thread,event,value\n0,compute,1000\n0,send,1\n0,barrier,\n1,receive,0\n1,compute,2000\n1,barrier,0\n"
    )
    words = ["tree", "--waiting", "spin", "--cpus", 2, "--kernel", "paper,switch=0", "--compute", path]
    (row,) = simulate(tollbar, *words)
    assert float(row["completed_us"]) == 3000
    assert (row["threads"], row["barriers"], row["compute_us"]) == ("2", "1", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: column thread is needed once, it is empty"),
        ("thread,time\n0,1\n", "line 1: column compute_us is needed once, it has thread,time"),
        ("thread,event\n0,barrier\n", "line 1: column value is needed once, it has thread,event"),
        ("thread,event,value\n0,bariers,0\n", "line 2, column event: 'bariers' is not known"),
        ("thread,event,value\n0,compute,x\n", "line 2, column value: 'x' is not a number of microseconds"),
        ("thread,event,value\n0,send,1.5\n", "line 2, column value: '1.5' is not a whole number, at least 0"),
        ("thread,event,value\n0,receive,1\n0,barrier,\n1,barrier,\n", "waits for ever to receive from thread 1"),
        ("thread,compute_us\n", "line 2: there is no row below the header"),
        ("thread,compute_us\n0,1\n0\n", "line 3, column compute_us: '' is not a number of microseconds"),
        ("thread,compute_us\n0,1\n-1,1\n", "line 3, column thread: '-1' is not a whole number, at least 0"),
        ("thread,compute_us\n0,x\n", "line 2, column compute_us: 'x' is not a number of microseconds"),
        ("thread,compute_us\n0,inf\n", "line 2, column compute_us: 'inf' is not a number of microseconds"),
        ("thread,compute_us\n0,1\n2,1\n", "has no computing times of thread 1, but of thread 2"),
        ("thread,compute_us\n0,1\n1,1\n1,1\n", "thread 1 computes 2 times, thread 0 1 times"),
    ],
)
def test_a_profile_that_is_wrong_is_told_with_its_place(tollbar, tmp_path, text, said):
    path = tmp_path / "profile.csv"
    path.write_text(text)
    assert said in refusal(tollbar, "tree", "--waiting", "spin", "--cpus", 1, "--compute", path)


@pytest.mark.parametrize("words", [("--ranks", 2), ("--episodes", 3), ("--application", "compute=5")])
def test_what_a_profile_says_is_not_said_a_second_time(tollbar, tmp_path, words):
    path = tmp_path / "profile.csv"
    path.write_text("thread,compute_us\n0,1000\n1,2000\n")
    assert "says how many threads compute how long" in refusal(tollbar, "--compute", path, *words)

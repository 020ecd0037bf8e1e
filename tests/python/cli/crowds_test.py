# SPDX-License-Identifier: Apache-2.0
"""Profiles on disk, as tollbar simulate scheduler reads them."""

import json

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


def record(rank, computing_ns, name="turnstile"):
    keys = {"record": "profile", "round": 0, "name": name, "kind": "turnstile", "wait": "auto"}
    return json.dumps(keys | {"rank": rank, "computing_ns": computing_ns})


def test_what_a_measuring_program_recorded_is_replayed(tollbar, tmp_path):
    path = tmp_path / "run.jsonl"
    other = '{"record":"environment","ranks":2}'
    one, two = record(0, [1e6, 3e6]), record(1, [2e6, 1e6])
    path.write_text("\n".join([other, one, two]))
    (row,) = simulate(
        tollbar, "tree", "--waiting", "spin", "--cpus", 2, "--kernel", "paper,switch=0", "--compute", path
    )
    assert float(row["completed_us"]) == 5000
    path.write_text("\n".join([one, two, record(0, [1], name="mcs")]))
    assert "record one, with --only NAME+WAIT" in refusal(tollbar, "--compute", path)


def test_a_profile_with_messages_is_replayed(tollbar, tmp_path):
    # Thread 1 hears of thread 0 at 1000 and computes until 3000; then both have a second stretch.
    path = tmp_path / "profile.csv"
    path.write_text(
        "thread,event,value\n0,compute,1000\n0,send,1\n0,barrier,\n0,compute,500\n0,barrier,\n"
        "1,receive,0\n1,compute,2000\n1,barrier,\n1,compute,700\n1,barrier,\n"
    )
    words = ("--kernel", "paper,switch=0", "--compute", path)
    (row,) = simulate(tollbar, "tree", "--waiting", "spin", "--cpus", 2, *words)
    assert float(row["completed_us"]) == 3700
    assert (row["threads"], row["barriers"], row["compute_us"]) == ("2", "2", "")
    (alone,) = simulate(tollbar, "centralized", "--waiting", "smart", "--cpus", 1, *words)
    assert float(alone["completed_us"]) == 1000 + 2000 + 500 + 700


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: column thread is needed once, it is empty"),
        (
            "thread,event,value\n0,think,1\n",
            "column event: 'think' is not known; there are compute, send, receive, barrier",
        ),
        ("thread,event,value\n0,send,x\n", "line 2, column value: 'x' is not a whole number, at least 0"),
        ("thread,event,value\n0,compute,x\n", "line 2, column value: 'x' is not a number of microseconds, at least 0"),
        ("thread,event,value\n0,barrier,1\n", "line 2, column value: a barrier has none, not '1'"),
        ("thread,event,value\n0,barrier,,\n", "line 2: more fields than columns"),
        ("thread,event,value\n0,barrier,\n1,receive,0\n1,barrier,\n", "nobody can go on: thread 1 waits for ever"),
        ("thread,event,value\n0,barrier,\n1,send,0\n1,barrier,\n", "thread 0 does not receive all that thread 1"),
        ("thread,time\n0,1\n", "line 1: column compute_us is needed once, it has thread,time"),
        ("thread,compute_us\n", "line 2: there is no row below the header"),
        ('{"record":"profile"}\n', "line 1: not what a measuring program prints"),
        ('{"record":"environment"}\n{"rec', "line 2: not what a measuring program prints"),
        ('{"record":"environment"}\n', "has no computing times"),
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

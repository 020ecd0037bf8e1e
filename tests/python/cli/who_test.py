# SPDX-License-Identifier: Apache-2.0
"""tollbar who: what it prints and how it ends, whatever the helper has seen."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
import sys

import pytest
from sights import MAIN, THREAD, barrier, thread
from tollbar.look import helper, processes

WAIT = ("libc.so.6:pthread_barrier_wait", "worker", *THREAD)
LATE = ("libc.so.6:sleep", "late", "worker", *THREAD)
JOIN = thread(1, "libc.so.6:__pthread_clockjoin_ex", *MAIN)
COLUMNS = [
    "process", "rank", "thread", "name", "state", "part", "doing", "asleep_s", "barrier", "conclusion",
    "held_us", "frames", "host",
]  # fmt: skip


def seen(*threads, groups=()):
    look = {"processes": [{"process": os.getpid(), "threads": list(threads)}], "groups": list(groups)}
    return {"looks": [look, look]}


def hung(arrived=3):
    at = barrier("pthread_barrier_t", arrived, 4)
    return seen(*(thread(10 + i, *WAIT, at=at) for i in range(3)), thread(20, *LATE), JOIN)


@pytest.fixture
def sees(monkeypatch):
    """sees(document, ...): what the helper prints, look by look; the last one again and again."""

    def replace(*documents):
        left = list(documents)
        monkeypatch.setattr(helper, "look", lambda *_: left.pop(0) if len(left) > 1 else left[0])

    return replace


def test_a_missing_thread_is_exit_code_1_and_named(tollbar, sees):
    sees(hung())
    said = tollbar("who", os.getpid())
    assert said.code == 1
    assert said.err == (
        "pthread_barrier_t at 0x1000: 3 of 4 have arrived; not there: thread 20 (asleep, sleep() under late)\n"
    )
    assert said.out.splitlines()[1].split()[1:5] == ["20", "a.out", "asleep", "missing"]


def test_many_threads_that_do_the_same_are_one_line_and_csv_has_them_all(tollbar, sees):
    at = barrier("pthread_barrier_t", 1999, 2000)
    sees(seen(*(thread(10 + i, *WAIT, at=at) for i in range(1999)), thread(9, *LATE), JOIN))
    said = tollbar("who", os.getpid())
    lines = [line.split() for line in said.out.splitlines()]
    assert [line[:6] for line in lines[1:3]] == [
        [str(os.getpid()), "9", "a.out", "asleep", "missing", "sleep()"],
        [str(os.getpid()), "1999", "threads", "a.out", "asleep", "waits"],
    ], said.out
    assert len(lines) == 4
    assert len(tollbar("who", os.getpid(), "--csv").out.splitlines()) == 2002


def test_where_nothing_waits_the_exit_code_is_0(tollbar, sees):
    sees(seen(JOIN))
    said = tollbar("who", os.getpid())
    assert (said.code, said.err) == (0, "nobody is found missing\n")


ASLEEP = thread(30, "libc.so.6:read", "reader", *THREAD)


def test_a_wait_for_something_unknown_is_exit_code_3_and_named(tollbar, sees):
    sees(seen(JOIN, ASLEEP))
    said = tollbar("who", os.getpid())
    assert (said.code, said.err) == (
        3, "cannot tell: wait for something unknown: thread 30 (read() under reader)\n",
    )  # fmt: skip


def test_a_thread_that_sleeps_for_some_time_waits_for_nobody(tollbar, sees):
    sees(seen(JOIN, {**thread(30, "libc.so.6:clock_nanosleep", "worker", *THREAD), "call": 230}))
    assert tollbar("who", os.getpid()).code == 0


def test_a_thread_that_could_not_be_read_is_named(tollbar, sees):
    sees(seen(JOIN, {**thread(30), "call": -3}))
    said = tollbar("who", os.getpid())
    assert (said.code, said.err) == (3, "cannot tell: could not be read: thread 30 (a.out)\n")


def test_where_the_second_look_was_not_done_nothing_is_concluded(tollbar, sees):
    sees({"looks": hung()["looks"][:1]})
    said = tollbar("who", os.getpid())
    assert (said.code, said.err) == (3, "cannot tell: a second look has not seen the threads of the first\n")


def test_of_a_launcher_without_ranks_here_nothing_can_be_told(tollbar, sees, monkeypatch):
    sees(seen(JOIN))
    own = processes.everything()[os.getpid()]
    monkeypatch.setattr(
        processes, "everything", lambda: {own.number: processes.Process(own.number, 1, "srun", ("srun", "./a.out"))}
    )
    said = tollbar("who", os.getpid())
    assert said.code == 3
    assert re.match(rf"cannot tell: none of the ranks that srun \(process {own.number}\) has started is here", said.err)


@pytest.mark.parametrize("word", ["-1", "-99"])
def test_a_negative_number_is_no_process(tollbar, word):
    assert tollbar("who", word).refusal == f"tollbar who: {word} is neither the number of a process nor a name\n"


def test_a_look_that_fails_while_watching_is_no_end_of_the_program(tollbar, sees, monkeypatch):
    sees(seen(JOIN))
    looks = iter([helper.look(())])

    def fails(*_):
        for one in looks:
            return one
        raise helper.LookError("the helper was killed")

    monkeypatch.setattr(helper, "look", fails)
    said = tollbar("who", os.getpid(), "--watch", "0.01")
    assert (said.code, said.err) == (3, "tollbar who: the helper was killed\n")


def test_jobs_that_end_meanwhile_are_left_out(tollbar, sees, monkeypatch):
    monkeypatch.setattr(processes, "of_user", lambda there: [os.getpid()])
    sees({"looks": [{"processes": [{"process": os.getpid(), "threads": []}], "groups": []}] * 2})
    assert tollbar("who").code == 0


def test_the_help_has_all_exit_codes(tollbar):
    said = tollbar("who", "--help").out
    assert all(f"{code}: " in said for code in (0, 1, 2, 3)), said


def test_the_columns_are_stable(tollbar, sees):
    sees(hung())
    assert tollbar("who", os.getpid(), "--csv").out.splitlines()[0].split(",") == COLUMNS


def test_json_has_the_sentence_for_those_it_is_about(tollbar, sees):
    sees(hung())
    rows = tollbar("who", os.getpid(), "--json").json
    assert [(row["thread"], row["part"], bool(row["conclusion"])) for row in rows] == [
        (20, "missing", True), (10, "waits", True), (11, "waits", True), (12, "waits", True),
        (1, None, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "why"),
    [("4194999", "there is no process 4194999"), ("no-such-program", "no process is called no-such-program")],
)
def test_what_is_not_there_is_wrong_use(tollbar, word, why):
    assert tollbar("who", word).refusal == f"tollbar who: {why}\n"


def test_without_the_helper_it_says_what_to_install(tollbar, monkeypatch, tmp_path):
    monkeypatch.setattr("tollbar.machine.paths.program_folders", lambda: [tmp_path])
    said = tollbar("who", os.getpid())
    assert (said.code, said.out) == (3, "")
    assert "sudo apt-get install -y libdw-dev && make" in said.err


def test_a_process_that_may_not_be_looked_at_is_exit_code_3(tollbar, monkeypatch):
    monkeypatch.setattr(processes, "refusal", lambda number: processes.explain(number, 1, 7, 7))
    said = tollbar("who", os.getpid())
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith("tollbar who: kernel.yama.ptrace_scope is 1, ")
    assert said.err.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's process: not root")
def test_a_process_of_another_user_is_exit_code_3():
    script = "import os, sys; os.setuid(int(sys.argv[1])); from tollbar.cli import main; sys.exit(main(sys.argv[2:]))"
    nobody = str(pwd.getpwnam("nobody").pw_uid)
    command = [sys.executable, "-c", script, nobody, "who", str(os.getpid())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "belongs to another user (uid 0)" in done.stderr


def test_watching_ends_when_the_same_are_missing_twice(tollbar, sees):
    sees(seen(JOIN), hung(arrived=4), hung(), hung())
    assert tollbar("who", os.getpid(), "--watch", "0.01").code == 1


def test_watching_ends_with_the_program(tollbar, sees, monkeypatch):
    sees(seen(JOIN))
    there = [processes.everything(), processes.everything(), {}, {}]  # two for each look
    monkeypatch.setattr(processes, "everything", lambda: there.pop(0))
    said = tollbar("who", os.getpid(), "--watch", "0.01")
    assert (said.code, said.err) == (0, "the program has ended\n")


GROUP = {
    "name": "solver", "plan": "mcs", "ranks": 2, "episode": 7, "sentence": "rank 1 has not arrived",
    "missing": [{"rank": 1, "state": "running", "process": 41, "thread": 51, "behind": 1}],
    "arrived": [{"rank": 0, "state": "running", "process": 40, "thread": 50, "behind": 0}],
}  # fmt: skip


def test_without_words_groups_of_tollbars_are_listed(tollbar, sees, monkeypatch):
    monkeypatch.setattr(processes, "of_user", lambda there: [])
    sees({"looks": [{"processes": [], "groups": [GROUP]}] * 2})
    rows = tollbar("who", "--json").json
    assert [(row["rank"], row["process"], row["part"]) for row in rows] == [(1, 41, "missing"), (0, 40, "waits")]


def test_a_group_of_others_is_not_told_of_a_process(tollbar, sees):
    sees(seen(JOIN, groups=[GROUP]))
    assert tollbar("who", os.getpid()).code == 0


@pytest.mark.parametrize(
    ("size", "not_here"),
    [
        (2, ""),
        (3, "; rank 2 is not on this host, or has ended"),
        (4, "; ranks 2 and 3 are not on this host, or have ended"),
        (1024, "; 1022 ranks are not on this host, or have ended"),
    ],
)
def test_where_ranks_wait_for_nobody_that_is_seen_those_that_are_not_seen_are_named(
    tollbar, sees, monkeypatch, size, not_here
):
    waits = [thread(10 + rank, "libmpi.so.40:PMPI_Wait", *MAIN) for rank in (0, 1)]
    look = {"processes": [{"process": one["thread"], "threads": [one]} for one in waits], "groups": []}
    monkeypatch.setattr(processes, "ranks", lambda *_: {10: (0, size), 11: (1, size)})
    monkeypatch.setattr(processes, "refusal", lambda _: None)
    sees({"looks": [look, look]})
    said = tollbar("who", os.getpid())
    told = f"cannot tell: 2 of {size} ranks wait in MPI_Wait, and none is seen that they wait for{not_here}\n"
    assert (said.code, said.err) == (3, told)

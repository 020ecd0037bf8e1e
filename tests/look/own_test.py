# SPDX-License-Identifier: Apache-2.0
"""`tollbar who` knows tollbar's own barriers best of all, whichever language they are used from."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from looking import SOURCES, has_py_spy, names
from needs import left_out
from tollbar.machine import paths

KINDS = {
    "barrier": r"tollbar::barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, pause",
    "completion": r"tollbar::barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, pause",
    "leaves": r"tollbar::barrier at 0x\w+: \d+ of \d+ have arrived; 2 wait here",
    "group": r"a group without a name \(3 ranks, turnstile\), episode 1: 2 of 3 have arrived: rank 1 \(process",
    "c": r"tollbar::barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, pause",
}
PYTHON = {
    "Barrier": r"tollbar\.Barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, ",
    "main": r"tollbar\.Barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, ",
    "Group": r"a group without a name \(3 ranks, turnstile\), episode 1: 2 of 3 have arrived: rank 1 ",
    "process_barrier": r"tollbar\.process_barrier at 0x\w+: 2 of 3 have arrived; not there: thread \d+ \(asleep, ",
}


def is_named(table, late: str, *parts: str) -> bool:
    """Two of three wait, and the third has come to `late`, its place, which nobody is sure to see before."""
    return table.failed and len(names(table, "waits")) == 2 and (not late or names(table, *parts) == [late])


@pytest.fixture
def own(compiled):
    """own("-O0") -> the program of that level of optimization."""
    library = paths.find_library("libtollbar.so")
    root = paths.checkout()
    if library is None or root is None:
        left_out("libtollbar.so is not built")
    place = (f"-I{root / 'include'}", f"-L{library.parent}", f"-Wl,-rpath,{library.parent}", "-ltollbar")
    return lambda *options: compiled("own_barrier.cpp", "g++", "-std=c++20", *options, "-Wl,--no-as-needed", *place)


@pytest.mark.parametrize("kind", KINDS)
def test_the_thread_that_does_not_come_is_named(own, started, look_until, kind):
    job = started(own("-O1"), kind)
    late = "" if kind == "leaves" else "pause() under late"
    table = look_until(lambda table: is_named(table, late, "missing", "guess"), job.pid)
    assert re.match(KINDS[kind], table.notes[0]), table.notes


@pytest.mark.parametrize("kind", ["barrier", "group"])
def test_where_the_others_spin_nobody_is_accused_and_nothing_is_called_well(own, started, look_until, kind):
    job = started(own("-O1"), kind, TOLLBAR_WAIT="spin")
    unknown = "cannot tell: wait for something unknown: "
    table = look_until(lambda table: table.failed or table.notes[0].startswith(unknown), job.pid)
    assert not table.failed, table.notes


def test_members_of_a_group_that_spin_name_the_one_that_is_missing(own, tmp_path):
    reports = tmp_path / "reports"
    variables = {"TOLLBAR_WAIT": "spin", "TOLLBAR_TIMEOUT": "0.3", "TOLLBAR_REPORT": str(reports)}
    with subprocess.Popen([own("-O2"), "group"], stdout=subprocess.DEVNULL, env={**os.environ, **variables}) as job:
        end = time.monotonic() + 60
        while not (reports.exists() and "\n" in reports.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        job.kill()
    assert re.search(r"episode 1: rank [02] has waited [\d.]+ s: rank 1 \(.*\) has not arrived", reports.read_text())


@pytest.mark.parametrize("kind", PYTHON)
def test_the_member_of_pythons_that_does_not_come_is_named(started, look_until, kind):
    job = started(sys.executable, SOURCES / "own_barrier.py", kind)
    late = "sleep() under late (own_barrier.py:16)" if has_py_spy() and kind != "Group" else ""
    table = look_until(lambda table: is_named(table, late, "missing"), job.pid)
    assert re.match(PYTHON[kind], table.notes[0]), table.notes


def test_waits_with_a_time_out_are_known_after_a_stop(started, look_until):
    """As by Ctrl-Z, a debugger, or a look that came just before the thread slept: the kernel goes on with them as
    restart_syscall."""
    job = started(sys.executable, SOURCES / "own_barrier.py", "Barrier")
    first = look_until(lambda table: is_named(table, "", "missing"), job.pid).notes[0]
    job.send_signal(signal.SIGSTOP)
    look_until(lambda table: all(row.state == "stopped" for row in table.rows), job.pid)
    job.send_signal(signal.SIGCONT)
    again = look_until(lambda table: all(row.state != "stopped" for row in table.rows), job.pid)
    assert again.failed, again.notes
    assert again.notes[0].partition(";")[0] == first.partition(";")[0]


def test_the_thread_that_does_not_come_to_pthreads_barrier_is_named_under_the_door(compiled, started, look_until):
    door = paths.find_library("libtollbar_pthread.so") or left_out("libtollbar_pthread.so is not built")
    job = started(compiled("pthread_barrier.c", "gcc", "-pthread"), LD_PRELOAD=str(door))
    table = look_until(lambda table: table.failed and len(names(table, "waits")) == 3, job.pid)
    assert re.match(r"pthread_barrier_t \(tollbar\) at 0x\w+: 3 of 4 have arrived; not there: ", table.notes[0]), (
        table.notes
    )


@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_the_thread_that_does_not_come_to_a_barrier_of_openmp_is_named_under_the_door(
    compiled, started, look_until, compiler
):
    door = paths.find_library("libtollbar_openmp.so") or left_out("libtollbar_openmp.so is not built")
    cpus = len(os.sched_getaffinity(0))
    if cpus == 1:
        pytest.skip("threads of one CPU meet at a word that is not looked at")
    threads = 2 * cpus  # so that they meet at leaves
    job = started(compiled("openmp.c", compiler, "-fopenmp"), "barrier", threads, LD_PRELOAD=str(door))
    table = look_until(lambda table: table.failed and len(names(table, "waits")) == threads - 1, job.pid)
    found = rf"OpenMP barrier \(tollbar\) at 0x\w+: {threads - 1} of {threads} have arrived; not there: "
    assert re.match(found, table.notes[0]), table.notes


def test_a_stripped_program_is_seen_as_well(own, started, look_until):
    job = started(own("-O2", "-s"), "barrier")
    table = look_until(lambda table: len(names(table, "waits")) == 2, job.pid)
    assert table.notes[0].startswith("tollbar::barrier at "), table.notes


@pytest.mark.parametrize("kind", ["barrier", "group", "c"])
def test_a_hang_at_one_ends_the_job(own, kind):
    ends_with_its_name([own("-O2"), kind], "tollbar::barrier at " if kind != "group" else "turnstile)")


@pytest.mark.parametrize("kind", PYTHON)
def test_a_hang_of_pythons_ends_the_job(kind):
    ends_with_its_name([sys.executable, SOURCES / "own_barrier.py", kind], "tollbar")


def ends_with_its_name(words, name: str) -> None:
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "0.6", "--on-hang", "kill", "--"]
    done = subprocess.run([*run, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 75, done.stderr
    assert any(name in line for line in done.stderr.splitlines() if line.startswith("tollbar run: hangs: ")), (
        done.stderr
    )

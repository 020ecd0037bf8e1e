# SPDX-License-Identifier: Apache-2.0
"""Looking changes nothing in the program that is looked at, and accuses none that goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from looking import AS_ROOT, LAUNCHERS, look
from tollbar.look import helper
from tollbar.machine import paths

PROGRAM = "sleepers.c"


def test_no_sleeper_is_interrupted_or_stopped(compiled, started):
    job = started(compiled(PROGRAM, "gcc", "-O2"))
    for _ in range(3):
        assert [row.held_us for row in look(job.pid).rows] == [None] * 5
    job.communicate("x")
    assert job.returncode == 0


@pytest.mark.deep
def test_a_thread_that_enters_epoll_wait_again_and_again_is_not_interrupted(compiled, started):
    job = started(compiled(PROGRAM, "gcc", "-O2"), "again")
    for _ in range(200):
        helper.look([job.pid])
    job.communicate("x")
    assert job.returncode == 0


def accusations(job: subprocess.Popen[str]) -> list[str]:
    tables = [look(job.pid) for _ in range(50)]
    assert all(table.rows for table in tables)
    return [note for table in tables if table.failed for note in table.notes]


def test_threads_that_meet_every_two_milliseconds_are_not_accused(compiled, started):
    assert accusations(started(compiled("meeting.c", "gcc", "-O2"))) == []


@pytest.mark.deep
@pytest.mark.parametrize("policy", ["passive", "active"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-14"])
def test_a_parallel_region_that_goes_on_is_not_accused(compiled, started, compiler, policy):
    program = compiled("openmp.c", compiler, "-O2", "-fopenmp")
    assert accusations(started(program, "meet", OMP_WAIT_POLICY=policy)) == []


@pytest.mark.deep
@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_job_that_goes_on_is_not_accused(compiled, started, mpi):
    launcher, *options = LAUNCHERS[mpi]
    program = compiled("job.c", f"mpicc.{mpi}", "-O2")
    assert accusations(started(launcher, *options, "-n", 4, program, "meet", **AS_ROOT)) == []


def test_a_thread_that_naps_again_and_again_is_seen_in_each_look(compiled, started):
    """As the ranks of Open MPI do in MPI_Init."""
    job = started(compiled("spinning.c", "gcc", "-O2"), "naps")
    for _ in range(20):
        [doing] = [row.doing for row in look(job.pid).rows if row.thread != job.pid]
        assert re.search(r"\bspin\b", doing), doing


def states(process: int) -> set[str]:
    return {path.read_text().rpartition(")")[2].split()[0] for path in Path(f"/proc/{process}/task").glob("*/stat")}


def test_a_helper_that_is_killed_leaves_the_program_running(compiled, started):
    job = started(compiled("spinning.c", "gcc", "-O2"))

    def count() -> int:
        job.stdin.write("x")
        job.stdin.flush()
        return int(job.stdout.readline())

    for step in range(60):
        looking = subprocess.Popen([paths.program(helper.PROGRAM), str(job.pid)], stdout=subprocess.DEVNULL)
        time.sleep(step / 1000)  # so that the kill falls into every part of a look; no verdict hangs on it
        looking.send_signal(signal.SIGKILL)
        looking.wait()
        before = count()
        end = time.monotonic() + 60
        while count() == before:
            assert time.monotonic() < end, states(job.pid)
    assert "t" not in states(job.pid)
    assert os.waitpid(job.pid, os.WNOHANG) == (0, 0)

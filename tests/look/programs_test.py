# SPDX-License-Identifier: Apache-2.0
"""`tollbar who` names exactly the late thread or rank of programs that know nothing of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from code_places import PLACE
from looking import AS_ROOT, BOOST, LAUNCHERS, LIBCXX, SOURCES, UNNOTICED, has_py_spy, look, names
from needs import left_out
from tollbar.cli.table import Table
from tollbar.look import answers, processes, pythons

LEVELS = ("-O0", "-O2")


def after(waiters: int) -> Callable[[Table], bool]:
    """Whether somebody is found missing once as many wait. Who has not come yet is missing too before."""
    return lambda table: table.failed and len(names(table, "waits")) == waiters


def alone(table: Table) -> bool:
    """Whether a single thread is missing, which is so once all others have come."""
    return table.failed and len(names(table, "missing", "guess")) == 1


@pytest.mark.parametrize("level", LEVELS)
def test_the_late_thread_of_a_pthread_barrier_is_named(compiled, started, look_until, level):
    job = started(compiled("pthread_barrier.c", "gcc", level))
    table = look_until(after(3), job.pid)
    said = r"pthread_barrier_t at 0x\w+: 3 of 4 have arrived; not there: thread \d+ "
    assert re.match(said + r"\(asleep, pause\(\) under late\)$", table.notes[0])
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert names(table, "waits") == ["pthread_barrier_wait() under worker"] * 3


@pytest.mark.parametrize("level", LEVELS)
def test_a_late_thread_that_runs_is_named_with_its_function(compiled, started, look_until, level):
    job = started(compiled("pthread_barrier.c", "gcc", level), "spin")
    table = look_until(after(3), job.pid)
    assert names(table, "missing", "guess") == ["late()"]
    assert [row.state for row in table.rows if row.part == "missing"] == ["runs"]


def test_main_that_joins_the_waiters_is_not_named(compiled, started, look_until):
    job = started(compiled("pthread_barrier.c", "gcc", "-O0"))
    table = look_until(after(3), job.pid)
    assert [row.part for row in table.rows if row.thread == job.pid] == [None]
    assert [row.doing for row in table.rows if row.thread == job.pid] == ["pthread_join() under main"]


def test_a_line_of_source_is_named_where_there_is_debug_information(compiled, started, look_until):
    job = started(compiled("pthread_barrier.c", "gcc", "-O0", "-g"))
    [doing] = names(look_until(after(3), job.pid), "missing")
    assert re.fullmatch(r"pause\(\) under late \(pthread_barrier\.c:\d+\)", doing)


def test_a_stopped_program_is_said_to_be_stopped_where_it_was(compiled, started, look_until):
    job = started(compiled("pthread_barrier.c", "gcc", "-O2"))
    look_until(after(3), job.pid)
    job.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WNOWAIT)
    table = look_until(lambda table: table.failed and table.rows[0].state == "stopped", job.pid)
    assert {row.state for row in table.rows} == {"stopped"}
    assert names(table, "missing", "guess") == ["pause() under late"]


def test_the_late_thread_of_a_std_barrier_is_named(compiled, started, look_until):
    job = started(compiled("std_barrier.cpp", "g++", "-std=c++20", "-O0"))
    table = look_until(after(2), job.pid)
    assert re.match(r"std::barrier \(libstdc\+\+\) at 0x\w+: 2 of 3 have arrived; ", table.notes[0])
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert len(names(table, "waits")) == 2


def test_the_late_thread_of_an_optimized_std_barrier_is_a_guess_at_worst(compiled, started, look_until):
    job = started(compiled("std_barrier.cpp", "g++", "-std=c++20", "-O2"))
    table = look_until(after(2), job.pid)
    assert re.match(r"std::barrier \(libstdc\+\+\) at 0x\w+: 2 of 3 have arrived; ", table.notes[0])
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert len(names(table, "waits")) == 2


@pytest.mark.parametrize("policy", ["passive", "active"])
@pytest.mark.parametrize("how", ["barrier", "end"])
def test_the_late_thread_of_a_parallel_region_is_named(compiled, started, look_until, how, policy):
    program = compiled("openmp.c", "gcc", "-O2", "-fopenmp")
    job = started(program, how, OMP_WAIT_POLICY=policy)
    table = look_until(after(3), job.pid)
    assert re.match(r"OpenMP barrier \(libgomp\) at 0x\w+: 3 of 4 have arrived; ", table.notes[0])
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert len(names(table, "waits")) == 3


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("compiler", "kind"), [(LIBCXX, r"std::barrier \(libc\+\+\)"), (BOOST, "boost::barrier")])
def test_the_late_thread_at_other_libraries_barriers_is_named(compiled, started, look_until, compiler, kind, level):
    job = started(compiled("std_barrier.cpp", *compiler, level))
    table = look_until(after(2), job.pid)
    assert re.match(kind + r" at 0x\w+: 2 of 3 have arrived; not there: thread \d+ ", table.notes[0])
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert len(names(table, "waits")) == 2


def test_a_look_sees_all_waiters_of_libcxx_or_none(compiled, started, look_until):
    """Each wakes every 8 ms. When all are awake, as after a moment in which none got a CPU, nothing is concluded."""
    job = started(compiled("std_barrier.cpp", *LIBCXX), 24)
    look_until(after(23), job.pid)
    assert {len(names(look(job.pid), "waits")) for _ in range(8)} <= {0, 23}


def test_the_late_thread_of_pythons_barrier_is_a_guess_from_its_frames(started, look_until):
    if not has_py_spy():
        left_out("py-spy is not installed")
    job = started(sys.executable, SOURCES / "barrier.py")
    table = look_until(after(3), job.pid)
    said = r"threading\.Barrier at 0x\w+: 3 of 4 have arrived; not there: thread \d+ "
    why = r"\(asleep, sleep\(\) under late \(barrier\.py:\d+\)\); a guess: they began where those who wait did"
    assert re.match(said + why, table.notes[0])
    assert len(names(table, "waits")) == 3


def test_without_py_spy_threads_of_python_are_said_to_wait_for_locks(started, look_until, monkeypatch):
    monkeypatch.setattr(pythons, "_PY_SPY", "no-such-program")
    job = started(sys.executable, SOURCES / "barrier.py")
    table = look_until(lambda table: "wait for locks of Python's" in table.notes[-1], job.pid)
    assert not table.failed


@pytest.mark.parametrize("policy", ["passive", "active"])
def test_idle_workers_wait_for_nobody(compiled, started, look_until, policy):
    job = started(compiled("openmp.c", "gcc", "-O2", "-fopenmp"), "idle", OMP_WAIT_POLICY=policy)
    table = look_until(lambda table: [row.part for row in table.rows].count("idle") == 3, job.pid)
    assert not table.failed
    assert names(table, "missing", "guess", "waits") == []


@pytest.mark.parametrize("how", ["barrier", "end"])
def test_the_late_thread_of_llvms_openmp_is_a_guess_from_frames(compiled, started, look_until, how):
    job = started(compiled("openmp.c", "clang-14", "-O2", "-fopenmp"), how)
    table = look_until(alone, job.pid)
    assert names(table, "missing", "guess") == ["pause() under late"]
    assert "; a guess: this library shows no count" in table.notes[0]


def test_idle_workers_of_llvms_openmp_wait_for_nobody(compiled, started):
    job = started(compiled("openmp.c", "clang-14", "-O2", "-fopenmp"), "idle")
    assert [look(job.pid).failed for _ in range(3)] == [False] * 3


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
@pytest.mark.parametrize("how", ["sleep", "spin"])
def test_the_rank_outside_the_collective_call_is_named(compiled, started, look_until, mpi, how):
    launcher, *options = LAUNCHERS[mpi]
    program = compiled("job.c", f"mpicc.{mpi}", "-O2")
    job = started(launcher, *options, "-n", 4, program, how, **AS_ROOT)
    table = look_until(lambda table: table.failed and len(table.rows) == 4, job.pid)
    doing = "sleep() under main" if how == "sleep" else "compute()"
    assert table.notes == [f"rank 2 is in {doing}; 3 of 4 are in MPI_Allreduce"]
    assert sorted((row.rank, row.part) for row in table.rows) == [
        (0, "waits"), (1, "waits"), (2, "missing"), (3, "waits"),
    ]  # fmt: skip


#: A hang that only the ranks' own account of their calls explains, not their frames: one has another root.
ANOTHER_ROOT = (
    rf"MPI_COMM_WORLD \(4 ranks\), MPI_Reduce 5 at {PLACE}: rank \d on \S+ waits: "
    rf"rank 2 \(.*?\) called MPI_Reduce \(root 2\) at {PLACE} where 3 ranks called MPI_Reduce \(root 3\)$"
)


@pytest.fixture
def hanging(compiled, started):
    """hanging(mpi, kind, ...) -> a job under `tollbar run --timeout`, long before it would say so itself; what stands
    behind the kind starts it."""

    def start(mpi: str, kind: str, *before: str):
        program = compiled("hanging.c", f"mpicc.{mpi}", "-O2")
        words = [*before, sys.executable, "-m", "tollbar", "run", "--timeout", "600", "--", *LAUNCHERS[mpi]]
        return started("sh", "-c", 'echo ready; "$@"', "sh", *words, "-n", 4, program, kind, 2, **AS_ROOT)

    return start


@pytest.fixture(params=["openmpi", "mpich"])
def with_another_root(request, hanging):
    return hanging(request.param, "root")


def test_a_watched_job_tells_what_no_frame_does(with_another_root, look_until):
    table = look_until(lambda table: table.failed and len(table.rows) == 4, with_another_root.pid)
    assert re.match(ANOTHER_ROOT, table.notes[0]), table.notes
    assert [row.rank for row in table.rows if row.part == "missing"] == [2]


def test_a_watched_job_tells_it_where_the_kernel_forbids_looking(with_another_root, look_until, monkeypatch):
    look_until(lambda table: table.failed and len(table.rows) == 4, with_another_root.pid)
    why = processes.explain(with_another_root.pid, 2, os.geteuid(), os.geteuid())
    monkeypatch.setattr(processes, "refusal", lambda number: why)  # as kernels with Yama do
    monkeypatch.setattr(answers, "ask", lambda numbers, there: None)  # as on a host without `tollbar run`
    table = look(with_another_root.pid)
    assert re.match(ANOTHER_ROOT, table.notes[0]), table.notes
    assert (table.failed, table.notes[1:]) == (True, [why])
    assert [(row.rank, row.part, row.conclusion) for row in table.rows] == [(2, "missing", table.notes[0])]


def test_a_watched_job_of_another_namespace_is_looked_at_by_its_frames(hanging, look_until):
    """Its ranks have other numbers there, which are those of strangers here."""
    elsewhere = ("unshare", "-pf", "--mount-proc")
    if not shutil.which("unshare") or subprocess.run([*elsewhere, "true"], check=False, capture_output=True).returncode:
        pytest.skip("namespaces of process numbers are not permitted here")
    job = hanging("mpich", "sleep", *elsewhere)
    table = look_until(lambda table: table.failed and len(table.rows) == 4, job.pid)
    assert table.notes == ["rank 2 is in sleep() under go_astray; 3 of 4 are in MPI_Barrier"]


def test_the_element_outside_the_barrier_of_openshmem_is_named(compiled, started, look_until):
    program = compiled("elements.c", "oshcc", "-O2")
    job = started("oshrun", "--oversubscribe", "-n", 3, program, **AS_ROOT)
    table = look_until(lambda table: table.failed and len(table.rows) == 3, job.pid)
    assert table.notes == ["rank 1 is in sleep() under main; 2 of 3 are in shmem_barrier_all"]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_rank_in_a_call_of_another_communicator_is_named(compiled, started, look_until, mpi):
    launcher, *options = LAUNCHERS[mpi]
    program = compiled("job.c", f"mpicc.{mpi}", "-O2")
    job = started(launcher, *options, "-n", 4, program, "apart", **AS_ROOT)
    table = look_until(lambda table: table.failed and len(table.rows) == 4, job.pid)
    of = "solver" if mpi == "openmpi" else r"communicator 0x84\w+"
    assert re.fullmatch(
        rf"rank 2 is in MPI_Allreduce of {of}; 3 of 4 are in MPI_Allreduce of MPI_COMM_WORLD", table.notes[0]
    )


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_dead_rank_is_named_where_its_launcher_has_not_noticed(compiled, started, look_until, mpi):
    launcher, *options = LAUNCHERS[mpi]
    program = compiled("job.c", f"mpicc.{mpi}", "-O2")
    job = started(launcher, *options, "-n", 4, *UNNOTICED, program, "dead", **AS_ROOT)
    table = look_until(lambda table: table.failed and len(table.rows) == 3, job.pid)
    assert table.notes == ["rank 2 has no process with an MPI in its memory; 3 of 4 are in MPI_Allreduce"]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_rank_that_sends_to_a_stopped_one_is_not_named(compiled, started, look_until, mpi):
    launcher, *options = LAUNCHERS[mpi]
    program = compiled("job.c", f"mpicc.{mpi}", "-O2")
    job = started(launcher, *options, "-n", 4, program, "stopped", **AS_ROOT)

    def all_wait(table) -> bool:
        calls = sorted(row.doing.split("(")[0] for row in table.rows if row.rank != 2)
        return calls == ["MPI_Allreduce", "MPI_Allreduce", "MPI_Send"] and len(table.notes) == 2

    table = look_until(all_wait, job.pid)
    assert [row.rank for row in table.rows if row.part == "missing"] == [2]
    assert re.match(r"rank 2 is in .*; 2 of 4 are in MPI_Allreduce$", table.notes[0]), table.notes
    assert re.match(r"rank 2 is stopped in .*; 3 of 4 are not stopped$", table.notes[1]), table.notes


def test_a_name_finds_the_processes_of_a_program(compiled, started, look_until):
    program = compiled("pthread_barrier.c", "gcc", "-O2")
    job = started(program)
    assert {row.process for row in look_until(after(3), program.name).rows} == {job.pid}


def test_the_command_ends_with_1_and_names_the_missing_on_stderr(compiled, started, look_until):
    job = started(compiled("pthread_barrier.c", "gcc", "-O2"))
    look_until(after(3), job.pid)
    command = [sys.executable, "-m", "tollbar", "who", str(job.pid)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "3 of 4 have arrived" in done.stderr

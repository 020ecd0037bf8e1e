# SPDX-License-Identifier: Apache-2.0
"""`tollbar who` names the rank that the others of a job without an MPI wait for, by its line of Python, and gives no
all-clear where all of them wait."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from looking import SOURCES, has_py_spy, names
from needs import left_out

LATE = {
    "late": r"is in sleep\(\) under load_batch \(stacks_job\.py:\d+\)",
    "stopped": r"is stopped in kill\(\) under load_batch \(stacks_job\.py:\d+\)",
    "looping": r"is in load_batch\(\) \(stacks_job\.py:\d+\)",
    "gone": r"(has no process here: gone, or not yet started|has ended)",
}
SIZES = [2, 4, pytest.param(8, marks=pytest.mark.deep)]
GUESS = r"(; a guess: stacks tell where they wait, and not for whom)?$"
#: The words by which a python says whether it has torch.
TORCH = ("/usr/bin/python3", "-c", "import torch.distributed as gloo; gloo.Backend.GLOO")


@pytest.fixture(autouse=True)
def py_spy() -> None:
    if not has_py_spy():
        left_out("py-spy is not installed")


def others(ranks: int, late: int) -> str:
    numbers = [str(rank) for rank in range(ranks) if rank != late]
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else f"rank {numbers[0]}"


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("how", LATE)
def test_the_rank_that_others_wait_for_at_sockets_is_named(started, look_until, how, ranks):
    late = ranks // 2
    job = started(sys.executable, SOURCES / "stacks_job.py", "sockets", ranks, late, how)
    said = rf"{others(ranks, late)} of {ranks} (is|are) in recvfrom\(\) under (Sockets\.)?wait \(stacks_job\.py:\d+\); "
    wanted = re.compile(rf"{said}rank {late} {LATE[how]}{GUESS}")
    table = look_until(lambda table: table.failed and bool(wanted.match(table.notes[0])), job.pid)
    assert sorted(row.rank for row in table.rows if row.part == "waits") == [r for r in range(ranks) if r != late]
    assert {row.rank for row in table.rows if row.part in ("missing", "guess")} == (set() if how == "gone" else {late})


@pytest.mark.parametrize("ranks", SIZES)
@pytest.mark.parametrize("how", LATE)
def test_the_process_that_others_wait_for_at_a_barrier_of_multiprocessing_is_named(started, look_until, how, ranks):
    late = ranks // 2
    job = started(sys.executable, SOURCES / "stacks_job.py", "processes", ranks, late, how)
    said = r"process(es)? (\d+(, | and )?)+ (is|are) in Barrier\.wait\(\) under work \(stacks_job\.py:\d+\); "
    wanted = re.compile(rf"{said}process \d+ {LATE[how]}{GUESS}")

    def is_there(table):
        return table.failed and bool(wanted.match(table.notes[0])) and len(names(table, "waits")) == ranks - 1

    table = look_until(is_there, job.pid)
    assert job.pid not in {row.process for row in table.rows if row.part}


@pytest.mark.parametrize("way", ["sockets", "processes"])
def test_ranks_that_all_wait_accuse_nobody_and_are_no_all_clear(started, look_until, way):
    job = started(sys.executable, SOURCES / "stacks_job.py", way, 4, 2, "all")
    place = r"is in recv\(\) under load_batch \(stacks_job\.py:\d+\); none is seen that they wait for"
    wanted = re.compile(rf"cannot tell: .*; (rank 2|process \d+) {place}")
    table = look_until(lambda table: table.unknown and bool(wanted.match(table.notes[0])), job.pid)
    assert not table.failed
    assert names(table, "missing", "guess") == []


def test_ranks_that_poll_for_one_that_is_late_are_no_all_clear(started, look_until):
    job = started(sys.executable, SOURCES / "stacks_job.py", "sockets", 3, 1, "polling")
    late = r"rank 1 is in sleep\(\) under load_batch \(stacks_job\.py:\d+\)"
    wanted = re.compile(rf"cannot tell: .*{late}; a rank that waits by polling looks like one that computes$")
    table = look_until(lambda table: table.unknown and bool(wanted.match(table.notes[0])), job.pid)
    assert not table.failed


@pytest.mark.parametrize("how", ["late", "gone", "looping"])
def test_a_hang_of_a_job_at_sockets_ends_it_and_names_the_rank(how):
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "1", "--on-hang", "kill", "--"]
    job = [sys.executable, str(SOURCES / "stacks_job.py"), "sockets", "3", "1", how]
    done = subprocess.run([*run, *job], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 75, done.stderr
    hangs = [line for line in done.stderr.splitlines() if line.startswith("tollbar run: hangs: ")]
    assert re.search(rf"ranks 0 and 2 of 3 are in .*; rank 1 {LATE[how]}", hangs[0]), done.stderr


GLOO = """
import os, signal, sys, time
import torch
import torch.distributed as dist

def load_batch(how):
    if how == "late":
        time.sleep(1000)
    elif how == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    loops = how == "looping"
    while loops:
        pass

dist.init_process_group("gloo")
for step in range(3):
    if step == 2 and dist.get_rank() == 2:
        load_batch(sys.argv[1])
    dist.all_reduce(torch.ones(4))
"""


@pytest.fixture(scope="session")
def with_torch() -> str:
    python, *words = TORCH
    if not Path(python).exists() or subprocess.run([python, *words], capture_output=True, check=False).returncode:
        pytest.skip("no torch for /usr/bin/python3: apt-get install --no-install-recommends python3-torch")
    return python


@pytest.mark.parametrize("how", ["late", "stopped", "looping"])
def test_the_rank_that_others_wait_for_in_a_collective_call_of_torch_is_named(
    with_torch, tmp_path, started, look_until, how
):
    (tmp_path / "train.py").write_text(GLOO)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    four = 'echo ready; for rank in 0 1 2 3; do RANK=$rank "$@" & done; wait'
    variables = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    clean = {name: "" for name in os.environ if name.startswith("PYTHON")}
    job = started("sh", "-c", four, "sh", with_torch, tmp_path / "train.py", how, **clean, **variables)
    place = LATE[how].replace("stacks_job", "train")
    said = rf"ranks 0, 1 and 3 of 4 are in all_reduce \(train\.py:\d+\); rank 2 {place}$"
    look_until(lambda table: table.failed and bool(re.match(said, table.notes[0])), job.pid)


#: What unranked_job.py takes for a collective call.
COLLECTIVE = "import socket\n\ndef sync_global_devices(name):\n    own, _other = socket.socketpair()\n    own.recv(1)\n"


def named_in(how: str) -> str:
    return LATE[how].replace("stacks_job", "unranked_job")


@pytest.mark.parametrize("how", ["late", "looping"])
def test_a_process_whose_main_thread_runs_a_library_alone_is_where_its_own_code_is(started, look_until, how):
    job = started(sys.executable, SOURCES / "unranked_job.py", "threads", how)
    said = r"processes \d+ and \d+ are in (sock_)?recv\w*\(\) under meet \(unranked_job\.py:\d+\); process \d+ "
    wanted = re.compile(rf"{said}{named_in(how)}; a guess")
    table = look_until(lambda table: table.failed and bool(wanted.match(table.notes[0])), job.pid)
    assert all(row.process != row.thread for row in table.rows if row.part)


@pytest.mark.parametrize("how", ["late", "stopped", "looping"])
def test_ranks_by_arguments_are_those_that_run_the_program_of_a_collective_call(started, look_until, tmp_path, how):
    package = tmp_path / "lib" / "python3" / "jax" / "experimental"
    package.mkdir(parents=True)
    (package / "multihost_utils.py").write_text(COLLECTIVE)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    job = started(sys.executable, SOURCES / "unranked_job.py", "arguments", how, PYTHONPATH=str(package.parent.parent))
    said = r"processes \d+ and \d+ are in sync_global_devices \(unranked_job\.py:\d+\); process \d+ "
    wanted = re.compile(rf"{said}{named_in(how)}{'' if how == 'stopped' else '; a guess'}")
    look_until(lambda table: table.failed and bool(wanted.match(table.notes[0])), job.pid)

# SPDX-License-Identifier: Apache-2.0
"""Programs that nobody here wrote, with one process stopped: `tollbar who` names that one, and no other."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from looking import LAUNCHERS, has_py_spy, look, names
from mpi_jobs import clean_environment
from needs import left_out
from tollbar.look import processes

pytestmark = pytest.mark.deep

DEBIANS_PYTHON = "/usr/bin/python3"
RANKS = 4

#: LAMMPS' own benchmark "melt", without an end.
MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 1
run 100000000
"""

MPI4PY = """
from array import array
from mpi4py import MPI
one, sum_ = array("d", [1.0] * 1000), array("d", [0.0] * 1000)
while True:
    MPI.COMM_WORLD.Allreduce([one, MPI.DOUBLE], [sum_, MPI.DOUBLE])
    if MPI.COMM_WORLD.rank == 0: print("Step", flush=True)
"""

#: Debian's example of HPCC's input, with other values: some minutes of Linpack on a grid of 4 ranks.
HPCC = {"Ns": "6000", "Ps": "2", "Qs": "2"}
HPCC_EXAMPLE = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")

STUCK = """
import threading, time
def late(): time.sleep(1000)
def test_threads_that_meet():
    barrier = threading.Barrier(3)
    def meet(number):
        if number == 1: late()
        barrier.wait()
    threads = [threading.Thread(target=meet, args=(number,)) for number in range(3)]
    for each in threads: each.start()
    for each in threads: each.join()
"""

#: Arguments: a file to meet by, the ranks, the rank that stops itself after some steps (-1: none), the own rank.
GLOO = """
import os, signal, sys
import torch, torch.distributed as ranks
file, size, stopped, rank = sys.argv[1], *map(int, sys.argv[2:])
ranks.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=size)
ones = torch.ones(1000)
for step in range(10**9):
    if rank == stopped and step == 20: os.kill(os.getpid(), signal.SIGSTOP)
    ranks.all_reduce(ones)
    ones /= size
    if rank == 0: print("Step", flush=True)
"""
#: Starts the words behind it four times, with the numbers from 0 to 3.
FOUR = 'for rank in 0 1 2 3; do "$@" $rank & done; wait'


@pytest.fixture
def running():
    """running(words...) -> the process, which computes: it has said so."""
    begun = []

    def run(folder: Path, *words: object, until: str = "Step", **given) -> subprocess.Popen[str]:
        job = subprocess.Popen(
            [*map(str, words)], cwd=folder, env=clean_environment(folder), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **given,
        )  # fmt: skip
        begun.append(job)
        if until:
            said = ""
            while until not in (line := job.stdout.readline()):
                said += line
                assert line, said
        return job

    yield run
    for job in begun:
        with contextlib.suppress(ProcessLookupError):  # it may have ended
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


def install(package: str) -> None:
    """Debian's package, where this is Debian and its root: scripts/setup leaves these to the tests that are about them,
    as scripts/real_programs does."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        command = [
            "apt-get",
            "-qq",
            "-y",
            "-o",
            "DPkg::Lock::Timeout=300",
            "--no-install-recommends",
            "install",
            package,
        ]
        subprocess.run(command, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True)


def program_of(package: str, program: str) -> None:
    if shutil.which(program) is None:
        install(package)
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not there: apt-get install {package}")


def python_with(module: str) -> str | None:
    """Debian's Python, or the one on PATH, where it has that module."""
    for python in (DEBIANS_PYTHON, "python3"):
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0:
            return python
    return None


def stop(process: int) -> None:
    os.kill(process, signal.SIGSTOP)
    while processes.everything()[process] and Path(f"/proc/{process}/stat").read_text().split()[2] != "T":
        pass


def names_the_stopped_rank(launcher: subprocess.Popen[str]) -> None:
    found = processes.ranks([launcher.pid], processes.everything())
    assert sorted(rank for rank, _ in found.values()) == list(range(RANKS))
    [stopped] = [process for process, (rank, _) in found.items() if rank == 2]
    stop(stopped)
    table = look(launcher.pid)
    assert table.failed
    assert re.match(r"rank 2 is stopped in .*; 3 of 4 are not stopped$", table.notes[-1]), table.notes
    named = {each for note in table.notes for each in re.findall(r"rank (\d+) is", note)}
    assert named == {"2"}, table.notes


def launched(*words: object) -> list[object]:
    return [*LAUNCHERS["openmpi"], "-n", RANKS, *words]


def test_lammps(running, tmp_path):
    program_of("lammps", "lmp")
    (tmp_path / "melt.in").write_text(MELT)
    names_the_stopped_rank(running(tmp_path, *launched("lmp", "-in", "melt.in")))


def test_mpi4py(running, tmp_path):
    if python_with("mpi4py") is None:
        install("python3-mpi4py")
    python = python_with("mpi4py") or pytest.skip("mpi4py is not there: apt-get install python3-mpi4py")
    names_the_stopped_rank(running(tmp_path, *launched(python, "-c", MPI4PY)))


def test_hpcc(running, tmp_path):
    program_of("hpcc", "hpcc")
    values = (re.match(r"(\S+)\s+(Ns|Ps|Qs)\s*$", line) for line in HPCC_EXAMPLE.read_text().splitlines())
    lines = HPCC_EXAMPLE.read_text().splitlines()
    given = [f"{HPCC[found[2]]} {found[2]}" if found else line for found, line in zip(values, lines, strict=True)]
    (tmp_path / "hpccinf.txt").write_text("\n".join(given) + "\n")
    job = running(tmp_path, *launched("hpcc"), until="")
    while len(processes.ranks([job.pid], processes.everything())) < RANKS or not (tmp_path / "hpccoutf.txt").exists():
        assert job.poll() is None, job.stdout.read()
    names_the_stopped_rank(job)


def test_pytest_with_xdist_and_a_stuck_barrier(running, tmp_path, look_until):
    if not has_py_spy():
        left_out("py-spy is not installed")
    (tmp_path / "stuck_test.py").write_text(STUCK)
    job = running(tmp_path, sys.executable, "-m", "pytest", "-n", 2, "stuck_test.py", until="")
    table = look_until(lambda table: table.failed and len(names(table, "waits")) == 2, job.pid)
    assert names(table, "missing", "guess") == ["sleep() under late (stuck_test.py:3)"], table.notes
    assert job.pid not in {row.process for row in table.rows if row.part}


def gloo(folder: Path, stopped: int) -> list[object]:
    python = python_with("torch") or pytest.skip("torch is not there: apt-get install python3-torch")
    return ["sh", "-c", FOUR, "sh", python, "-c", GLOO, folder / "meeting", RANKS, stopped]


def test_gloo(running, tmp_path):
    launcher = running(tmp_path, *gloo(tmp_path, -1))
    there = processes.everything()
    [stopped] = [each for each in processes.below(launcher.pid, there) if there[each].words[-1] == "2"]
    stop(stopped)
    table = look(launcher.pid)
    assert table.failed
    said = rf"process {stopped} is stopped in .*; 4 of 5 are not stopped"
    assert any(re.match(said, note) for note in table.notes), table.notes
    assert {row.process for row in table.rows if row.part == "missing"} == {stopped}


def test_a_job_of_gloo_with_a_stopped_process_is_ended_and_the_process_is_named(running, tmp_path):
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "2", "--on-hang", "kill", "--"]
    job = running(tmp_path, *run, *gloo(tmp_path, 2))
    said, _ = job.communicate(timeout=120)
    named = re.findall(r"^tollbar run: hangs: process (\d+) is stopped in .*; 4 of 5 are not", said, re.MULTILINE)
    assert (len(named), job.returncode) == (1, 75), said

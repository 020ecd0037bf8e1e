# SPDX-License-Identifier: Apache-2.0
"""Told to end, a verb leaves nothing behind of what it has started, whatever that has started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from tollbar.machine import kernel, mpis, paths

#: So long may pass until all have ended.
ENDING_S = 5
MARK = "MARKED_BY_A_TEST"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HERE = {mpi.family for mpi in mpis.installed()}
RUN = ("--allow-run-as-root", "--oversubscribe", "-n", "2", "sleep", "600")

#: What each verb is asked, and a program that runs meanwhile.
QUICK = {
    "bench mpi --mpi openmpi": "tollbar-bench-mpi-openmpi",
    "bench threads --beside neighbours --ranks 4": "tollbar-bench-threads",
    "check processes --episodes 100000000": "tollbar-bench-processes",
    "tune mpi --mpi openmpi --ranks 4": "--choose",
}
LONG = {
    "bench threads": "tollbar-bench-threads",
    "bench threads --beside session": "tollbar-bench-threads",
    "bench threads --cpus 1": "tollbar-bench-threads",
    "bench threads --compute 64~0.2": "tollbar-bench-threads",
    "bench mpi --mpi mpich": "tollbar-bench-mpi-mpich",
    "bench mpi --compute 64~0.2": "tollbar-bench-mpi-openmpi",
    "bench mpi --beside neighbour": "while True",
    "bench hybrid": "tollbar-bench-hybrid",
    "bench shmem": "tollbar-bench-shmem",
    "bench udp": "tollbar-bench-udp",
    "bench nic": "tollbar-nicd",
    "bench cores": "tollbar-bench-cores",
    "check threads --episodes 100000000": "tollbar-bench-threads",
    "check mpi --mpi openmpi --episodes 10000000": "tollbar-bench-mpi-openmpi",
    "check mpi --mpi mpich --episodes 10000000": "tollbar-bench-mpi-mpich",
    "check shmem --episodes 10000000": "tollbar-bench-shmem",
    "check udp --episodes 10000000": "tollbar-bench-udp",
    "check nic --episodes 10000000": "tollbar-nicd",
    "logp measure mpi": "tollbar-bench",
    "simulate cluster mcs --ranks 4096": "tollbar-simulate",
    "reproduce split-shmem --quick": "tollbar-bench",
    f"run -- mpirun {' '.join(RUN)}": "sleep",
    f"run --timeout 60 --on-hang kill -- mpirun {' '.join(RUN)}": "sleep",
}
WORDS = [*QUICK, *(pytest.param(words, marks=pytest.mark.deep) for words in LONG)]


def marked(mark: str) -> dict[int, str]:
    """The processes that have inherited the mark and have not ended, with their command lines."""
    found = {}
    for process in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in Path(f"/proc/{process}/environ").read_bytes():
                words = Path(f"/proc/{process}/cmdline").read_bytes()
                found[int(process)] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


@pytest.fixture
def mark():
    """A process that is left at the end is killed, as the next test is to be alone."""
    name = uuid.uuid4().hex
    yield name
    for process in marked(name):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def why_not(words: str, program: str) -> str:
    named = words.split()
    if {"nic", "udp"} & {*named[:2]} and (kernel.lacking(*kernel.NAMESPACES) or not shutil.which("ip")):
        return "network namespaces cannot be made here"
    for family in HERE ^ {"openmpi", "mpich"}:
        if family in words or (family == "openmpi" and {"mpi", "hybrid", "mpirun", "shmem", "split-shmem"} & {*named}):
            return f"{family} is not here"
    if program == "tollbar-simulate":
        with contextlib.suppress(FileNotFoundError):
            paths.program("tollbar-simulate-cluster")
            return ""
        return "SimGrid is not here"
    return ""


@pytest.mark.parametrize("words", WORDS)
def test_told_to_end_a_verb_leaves_nothing_behind(words, mark, tmp_path):
    program = (QUICK | LONG)[words]
    if why := why_not(words, program):
        pytest.skip(why)
    number = SIGNALS[[*QUICK, *LONG].index(words) % len(SIGNALS)]
    variables = {MARK: mark, "TOLLBAR_RESULTS": str(tmp_path), "TOLLBAR_TUNING": str(tmp_path / "tuning")}
    command = subprocess.Popen(
        [sys.executable, "-m", "tollbar", *words.split()],
        env=os.environ | variables, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    )  # fmt: skip
    limit = time.monotonic() + 100
    while not any(program in line for process, line in marked(mark).items() if process != command.pid):
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < limit, marked(mark)
        time.sleep(0.02)
    command.send_signal(number)
    told = time.monotonic()
    while (left := marked(mark)) and time.monotonic() < told + ENDING_S:
        time.sleep(0.05)
        command.poll()
    assert left == {}
    errors = command.communicate(timeout=100)[1]
    assert "Traceback" not in errors

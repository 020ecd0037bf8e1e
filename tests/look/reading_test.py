# SPDX-License-Identifier: Apache-2.0
"""Programs whose memory or whose files are not where they usually are: right names, or none, or the reason."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from looking import look, names
from tollbar.cli.errors import NotPermitted
from tollbar.look import helper, processes

#: Runs its arguments where the system call process_vm_readv fails with EPERM, as in containers.
FILTERED = """
import ctypes, os, struct, sys
code = b"".join(struct.pack("HBBI", *each) for each in
    [(0x20, 0, 0, 0), (0x15, 0, 1, 310), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)])
held = ctypes.create_string_buffer(code)
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_void_p)]
program, libc = Program(4, ctypes.addressof(held)), ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0): sys.exit("no filter")
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture
def late(compiled, tmp_path):
    """A copy of the program with a late thread, which a test may replace."""
    program = tmp_path / "program"
    shutil.copy(compiled("pthread_barrier.c", "gcc", "-O2", "-g"), program)
    return program


def names_the_late_thread(table) -> bool:
    return table.failed and len(names(table, "waits")) == 3


def test_where_one_way_to_read_memory_is_forbidden_the_other_is_taken(late, started, look_until):
    job = started(late)
    look_until(names_the_late_thread, job.pid)
    command = [sys.executable, "-c", FILTERED, sys.executable, "-m", "tollbar", "who", str(job.pid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "3 of 4 have arrived; not there: thread" in done.stderr


def test_where_both_are_forbidden_the_line_says_so(late, started, monkeypatch):
    job = started(late)
    for way in ("_may_read_file", "_may_call"):
        monkeypatch.setattr(processes, way, lambda number: False)
    with pytest.raises(NotPermitted, match=rf"^the memory of process {job.pid} may not be read: "):
        look(job.pid)
    assert "may not be read" in helper.trial()


def test_the_names_are_those_of_the_program_that_runs_and_not_of_the_file_in_its_place(
    late, compiled, started, look_until
):
    job = started(late)
    other = late.with_name("other")
    shutil.copy(compiled("spinning.c", "gcc", "-O2", "-g"), other)
    other.replace(late)
    table = look_until(names_the_late_thread, job.pid)
    [missing] = names(table, "missing")
    assert re.fullmatch(r"pause\(\) under late \(pthread_barrier\.c:\d+\)", missing)


def test_the_names_of_a_program_in_another_mount_namespace_are_its_own(late, compiled, started, look_until):
    apart = ("unshare", "-m", "sh", "-c")
    if subprocess.run([*apart, "mount --bind /bin/true /bin/false"], check=False, capture_output=True).returncode:
        pytest.skip("mount namespaces are not permitted here")
    other = late.with_name("other")
    shutil.copy(compiled("spinning.c", "gcc", "-O2", "-g"), other)
    job = started(*apart, 'mount --bind "$0" "$1"; exec "$1"', late, other)
    table = look_until(names_the_late_thread, job.pid)
    [missing] = names(table, "missing")
    assert re.fullmatch(r"pause\(\) under late \(pthread_barrier\.c:\d+\)", missing)


def test_a_function_of_c_keeps_its_name_where_that_is_a_code_of_types(compiled, started, look_until, tmp_path):
    job = started(compiled("pthread_barrier.c", "gcc", "-O0", "-Dlate=f", "-Dworker=w"))
    table = look_until(names_the_late_thread, job.pid)
    assert names(table, "missing") == ["pause() under f"]
    assert names(table, "waits") == ["pthread_barrier_wait() under w"] * 3


def test_a_pipe_of_anybodys_with_the_name_of_a_group_keeps_nobody_waiting(late, started, anybodys_pipe):
    job = started(late)
    assert look(job.pid).rows


@pytest.fixture
def anybodys_pipe():
    path = Path(f"/dev/shm/tollbar.{os.geteuid()}.pipe-{os.getpid()}")
    os.mkfifo(path, 0o666)
    yield path
    path.unlink()

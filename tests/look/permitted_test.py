# SPDX-License-Identifier: Apache-2.0
"""Where looking is forbidden, an ancestor of the program looks; without one `tollbar who` says what is missing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tollbar.look import processes

#: A user namespace of its own: the kernel forbids it to look at processes outside.
ELSEWHERE = ("unshare", "-U")


@pytest.fixture
def supervised(compiled) -> Iterator[subprocess.Popen[str]]:
    """`tollbar run`, whose child has said that it is ready."""
    program = compiled("pthread_barrier.c", "gcc", "-O2")
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "600", "--on-hang", "kill", "--", program]
    job = subprocess.Popen(run, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert job.stdout is not None
    assert job.stdout.readline() == "ready\n"
    yield job
    os.killpg(job.pid, signal.SIGKILL)
    job.communicate()


@pytest.fixture(autouse=True)
def elsewhere() -> None:
    if not shutil.which("unshare") or subprocess.run([*ELSEWHERE, "true"], check=False, capture_output=True).returncode:
        pytest.skip("user namespaces are not permitted here")


def who(*words: object) -> subprocess.CompletedProcess[str]:
    command = [*ELSEWHERE, sys.executable, "-m", "tollbar", "who", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def child_of(job: subprocess.Popen[str]) -> int:
    [child] = (each.number for each in processes.everything().values() if each.parent == job.pid)
    return child


def test_the_ancestor_looks_for_who_may_not(supervised):
    child = child_of(supervised)
    with pytest.raises(subprocess.CalledProcessError):  # it may not itself
        subprocess.run([*ELSEWHERE, "cat", f"/proc/{child}/syscall"], check=True, capture_output=True)
    for _ in range(2):
        done = who(child)
        assert done.returncode == 1, done.stderr
        said = r"pthread_barrier_t \(tollbar\) at 0x\w+: 3 of 4 have arrived; not there: thread \d+ "
        assert re.search(said + r"\(asleep, pause\(\) under late\)", done.stderr)


def test_without_an_ancestor_one_line_says_what_is_missing(compiled, started):
    done = who(started(compiled("pthread_barrier.c", "gcc", "-O2")).pid)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done.stderr
    assert "may not be looked at" in done.stderr


def test_an_ancestor_looks_at_nothing_but_its_own(supervised, compiled, started):
    stranger = started(compiled("pthread_barrier.c", "gcc", "-O2")).pid
    done = who(child_of(supervised), stranger)
    assert done.returncode == 1, done.stderr
    assert not re.search(rf"^{stranger}\b", done.stdout, re.MULTILINE)
    assert Path(f"/proc/{stranger}").exists()


@pytest.fixture
def closed():
    """A copy of cat that may be run and not read, so that only root may look at it."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody else")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own are root's
        os.chmod(folder, 0o755)
        copy = shutil.copy(shutil.which("cat"), folder)
        os.chmod(copy, 0o111)
        yield copy


@pytest.mark.parametrize("first", [[], ["sh", "-c", '"$@"; exit 5', "sh"]])
def test_a_program_that_may_not_be_looked_at_is_told_of_while_it_runs(closed, first):
    run = [sys.executable, "-m", "tollbar", "run"]
    somebody = {"user": 65534, "group": 65534, "extra_groups": [], "env": {**os.environ, "HOME": "/"}}
    with subprocess.Popen(
        [*run, "--timeout", "0.5", "--on-hang", "kill", "--", *first, closed], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **somebody,
    ) as running:  # fmt: skip
        said = running.stderr.readline()
        meanwhile = " while it runs" if first else ""
        assert re.match(rf"tollbar run: only barriers through tollbar are watched{meanwhile}: process \d+ ", said)
        assert "may not be looked at: CAP_SYS_PTRACE is missing" in said
        assert "start it by" not in said
        assert running.communicate("goes on\n", 60) == ("goes on\n", "")
        assert running.returncode == (5 if first else 0)

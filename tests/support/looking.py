# SPDX-License-Identifier: Apache-2.0
"""Programs of tests/look, compiled and started, and what `tollbar who` says of them.

The fixtures are those of tests/look, whose conftest.py names them."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from needs import left_out
from tollbar.cli import who
from tollbar.cli.table import Table
from tollbar.look import helper

SOURCES = Path(__file__).resolve().parents[1] / "look"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCHERS = {"openmpi": ("mpirun.openmpi", "--oversubscribe"), "mpich": ("mpiexec.mpich",)}
#: A shell that stays when its program has ended, so that its launcher notices nothing, and goes with it.
UNNOTICED = ("sh", "-c", '"$@"; while [ -d /proc/$PPID ]; do sleep 0.1; done', "sh")
#: Compilers of std_barrier.cpp.
LIBCXX = ("clang++-14", "-std=c++20", "-stdlib=libc++", "-O2")
BOOST = ("g++", "-std=c++20", "-O2", "-DBOOST", "-lboost_thread", "-lboost_system")
#: The header that a compiler's option needs, and the package that brings it.
NEEDED = {
    "-stdlib=libc++": ("/usr/lib/llvm-14/lib/libc++abi.so", "libc++abi-dev"),
    "-DBOOST": ("/usr/include/boost/thread/barrier.hpp", "libboost-thread-dev"),
}
LIMIT_S = 60  # a program that is not where it belongs by then hangs; nothing else depends on it


@pytest.fixture(scope="session", autouse=True)
def helper_is_built() -> None:
    if remedy := helper.available():
        left_out(f"{helper.PROGRAM} is not built: {remedy}")


@pytest.fixture(scope="session")
def compiled(tmp_path_factory) -> Callable[..., Path]:
    """compiled("openmp.c", "gcc", "-O2", "-fopenmp") -> the program."""
    folder = tmp_path_factory.mktemp("look")
    made: dict[tuple[str, ...], Path] = {}

    def build(source: str, compiler: str, *options: str) -> Path:
        if shutil.which(compiler) is None:
            left_out(f"{compiler} is not installed")
        for header, package in (NEEDED[option] for option in options if option in NEEDED):
            if not Path(header).exists():
                left_out(f"{package} is not installed")
        asked = (source, compiler, *options)
        if asked not in made:
            made[asked] = folder / f"{Path(source).stem}{len(made)}"
            command = [compiler, SOURCES / source, *options, "-pthread", "-o", made[asked]]
            subprocess.run(command, check=True, capture_output=True, text=True)
        return made[asked]

    return build


@pytest.fixture
def started() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """started(program, word, ...) -> the process, which has said that it is ready."""
    running: list[subprocess.Popen[str]] = []

    def start(*command: object, **environment: str) -> subprocess.Popen[str]:
        job = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **environment}, start_new_session=True,
        )  # fmt: skip
        running.append(job)
        assert job.stdout is not None
        assert job.stdout.readline() == "ready\n"
        return job

    yield start
    for job in running:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


def has_py_spy() -> bool:
    return bool(shutil.which("py-spy") or Path(sys.executable).with_name("py-spy").exists())


def look(*words: object) -> Table:
    return who.look([str(word) for word in words])


def names(table: Table, *parts: str) -> list[str]:
    """The words of threads that play such a part."""
    return sorted(row.doing for row in table.rows if row.part in parts)


@pytest.fixture
def look_until():
    """Looks until the table is as wanted, and gives it; fails with the last one."""

    def again(wanted: Callable[[Table], bool], *words: object) -> Table:
        end = time.monotonic() + LIMIT_S
        while not wanted(table := look(*words)):
            assert time.monotonic() < end, (table.notes, table.rows)
        return table

    return again

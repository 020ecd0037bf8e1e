# SPDX-License-Identifier: Apache-2.0
"""The places that reports print are numbers that addr2line knows, however a program was linked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from looking import AS_ROOT, LAUNCHERS, SOURCES
from needs import left_out
from tollbar.machine import paths

SOURCE = SOURCES / "place.c"
WAYS = {
    "pie": ("-pie", "-fPIE"),
    "bound to its place": ("-no-pie",),
    "lld": ("-fuse-ld=lld",),
    "lld, bound to its place": ("-fuse-ld=lld", "-no-pie"),
    "mold": ("-fuse-ld=mold",),
    "library": (),
}
LIMIT_S = 60

MPI = """#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank;
    char byte;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) while (read(0, &byte, 1) > 0) continue;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
"""


def line_of(source: str, what: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if what in line)


def compiler(options: tuple[str, ...]) -> str:
    for option in options:
        linker = option.removeprefix("-fuse-ld=")
        if linker != option and not (shutil.which(linker) or shutil.which(f"ld.{linker}")):
            left_out(f"{linker} is not installed: apt-get install {linker}")
    return "gcc"


def build(folder: Path, way: str) -> Path:
    options, program = WAYS[way], folder / "late"
    base = [compiler(options), "-g", "-O1", "-pthread", SOURCE]
    if way == "library":
        subprocess.run([*base, "-DONLY_LIBRARY", "-shared", "-fPIC", "-o", folder / "libmeet.so"], check=True)
        base += ["-DONLY_MAIN", folder / "libmeet.so", f"-Wl,-rpath,{folder}"]
    subprocess.run([*base, *options, "-o", program], check=True)
    return program


def resolved(site: str) -> str:
    file, address = site.rsplit("+", 1)
    done = subprocess.run(["addr2line", "-e", file, address], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def report_of(file: Path) -> str:
    end = time.monotonic() + LIMIT_S
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < end, "no report"
        time.sleep(0.02)
    return file.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_the_place_of_a_wait_is_that_of_its_call(tmp_path, way):
    door = paths.find_library("libtollbar_pthread.so")
    if door is None:
        left_out("libtollbar_pthread.so is not built")
    report = tmp_path / "report"
    given = {"LD_PRELOAD": str(door), "TOLLBAR_TIMEOUT": "0.1", "TOLLBAR_REPORT": str(report)}
    job = subprocess.Popen([build(tmp_path, way)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=given)
    said = report_of(report)
    job.communicate(b"")
    site = re.search(r"called at (\S+\+0x[0-9a-f]+):", said)[1]
    assert resolved(site).endswith(f"place.c:{line_of(SOURCE.read_text(), '/* here */')}"), said


@pytest.mark.parametrize("link", ["-no-pie", "-pie"])
def test_the_place_of_a_call_of_the_mpi_is_known_to_addr2line(tmp_path, link):
    launcher, *options = LAUNCHERS["openmpi"]
    if shutil.which("mpicc.openmpi") is None:
        left_out("Open MPI is not installed")
    (tmp_path / "late.c").write_text(MPI)
    build = ["mpicc.openmpi", "-g", "-O1", link, tmp_path / "late.c", "-o", tmp_path / "late"]
    subprocess.run(build, check=True)
    report = tmp_path / "report"
    run = [sys.executable, "-m", "tollbar", "run", "--timeout", "1", "--", launcher, *options, "-n", "2"]
    job = subprocess.Popen(
        [*run, tmp_path / "late"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, **AS_ROOT, "TOLLBAR_REPORT": str(report)},
    )  # fmt: skip
    said = report_of(report)
    job.communicate(b"")
    site = re.search(r"MPI_Barrier 1 at (\S+\+0x[0-9a-f]+):", said)[1]
    assert resolved(site).endswith(f"late.c:{line_of(MPI, 'MPI_Barrier')}"), said

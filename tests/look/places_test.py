# SPDX-License-Identifier: Apache-2.0
"""The places that reports print have the names of their code, however a program was linked; no name is a wrong one, and
no job notices how names are found out."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from code_places import PLACE, line_of
from looking import AS_ROOT, LAUNCHERS, SOURCES
from needs import left_out
from tollbar.look import helper
from tollbar.machine import paths

SOURCE = SOURCES / "place.c"
CHILDREN = SOURCES / "children.c"
HERE = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "/* here */" in line)
NAMED = f"meet (place.c:{HERE})"
LINKED = {
    "pie": ("-pie", "-fPIE"),
    "bound to its place": ("-no-pie",),
    "lld": ("-fuse-ld=lld",),
    "lld, bound to its place": ("-fuse-ld=lld", "-no-pie"),
    "mold": ("-fuse-ld=mold",),
    "mold, bound to its place": ("-fuse-ld=mold", "-no-pie"),
    "library": (),
    "inlined": ("-DINLINED", "-O2"),
    "compressed": ("-gz",),
    "without a build id": ("-Wl,--build-id=none",),
    "of clang, without a table of addresses": ("clang", "-gdwarf-5"),
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
    for (int i = 0; i < 5; ++i) {
        if (rank == 0) usleep(50000);
        MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD); /* counted */
    }
    MPI_Finalize();
    return 0;
}
"""
MPI_NAMED = f"main (late.c:{1 + MPI[: MPI.index('MPI_Barrier')].count(chr(10))})"


def compiler(options: tuple[str, ...]) -> list[str]:
    for option in options:
        linker = option.removeprefix("-fuse-ld=")
        if linker != option and not (shutil.which(linker) or shutil.which(f"ld.{linker}")):
            left_out(f"{linker} is not installed: apt-get install {linker}")
    if "clang" not in options:
        return ["gcc", *options]
    clang = shutil.which("clang") or shutil.which("clang-14") or left_out("clang is not installed")
    return [clang, *(option for option in options if option != "clang")]


def build(folder: Path, *options: str, library: bool = False, debug: str = "-g") -> Path:
    program = folder / "late"
    base = [*compiler(options), debug, *([] if "-O2" in options else ["-O1"]), "-pthread", SOURCE]
    if library:
        subprocess.run([*base, "-DONLY_LIBRARY", "-shared", "-fPIC", "-o", folder / "libmeet.so"], check=True)
        base += ["-DONLY_MAIN", folder / "libmeet.so", f"-Wl,-rpath,{folder}"]
    subprocess.run([*base, "-o", program], check=True)
    return program


@pytest.fixture
def door() -> Path:
    if helper.available():
        left_out(f"{helper.PROGRAM} is not built")
    return paths.find_library("libtollbar_pthread.so") or left_out("libtollbar_pthread.so is not built")


def begun(program: Path, door: Path, report: Path, **given: str) -> subprocess.Popen[bytes]:
    env = {"LD_PRELOAD": str(door), "TOLLBAR_TIMEOUT": "0.1", "TOLLBAR_REPORT": str(report), **given}
    return subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env)


def report_of(file: Path, enough: Callable[[str], bool] = bool) -> str:
    """The text of the file once it is enough: names may come later than the first line where a machine is full."""
    end = time.monotonic() + LIMIT_S
    while not (file.exists() and (said := file.read_text()).endswith("\n") and enough(said)):
        assert time.monotonic() < end, file.read_text() if file.exists() else "no report"
        time.sleep(0.02)
    return said


def places(said: str) -> list[str]:
    return re.findall(rf"pthread_barrier_wait of process \d+ at ({PLACE}): ", said)


def place_of(program: Path, door: Path, report: Path, is_named: str) -> str:
    """The place that is printed once it is one that has such a text in it."""
    job = begun(program, door, report)
    said = report_of(report, lambda said: is_named in said)
    job.communicate(b"")
    assert job.returncode == 0
    return places(said)[-1]


@pytest.mark.parametrize("way", LINKED)
def test_the_place_of_a_wait_is_the_function_and_the_line_of_its_call(tmp_path, door, way):
    program = build(tmp_path, *LINKED[way], library=way == "library")
    assert place_of(program, door, tmp_path / "report", "place.c:") == NAMED


@pytest.mark.parametrize("way", ["pie", "bound to its place", "lld", "lld, bound to its place", "mold", "library"])
def test_without_debug_information_it_is_the_function_and_a_number_that_addr2line_knows(tmp_path, door, way):
    program = build(tmp_path, *LINKED[way], library=way == "library")
    whole = program.with_name("whole")
    stripped = program.with_name("libmeet.so") if way == "library" else program
    shutil.copy(stripped, whole)
    subprocess.run(["strip", "--strip-debug", stripped], check=True)
    place = place_of(program, door, tmp_path / "report", "meet (")
    numbered = re.fullmatch(rf"meet \({re.escape(str(stripped))}\+(0x[0-9a-f]+)\)", place)
    assert numbered, place
    assert line_of(f"{whole}+{numbered[1]}").endswith(f"place.c:{HERE}")


def test_of_a_stripped_program_only_the_number_is_printed(tmp_path, door):
    program = build(tmp_path)
    subprocess.run(["strip", program], check=True)
    job = begun(program, door, tmp_path / "report")
    said = report_of(tmp_path / "report", lambda said: len(places(said)) >= 3)
    job.communicate(b"")
    assert all(place.startswith(f"{program}+0x") for place in places(said)), said


@pytest.mark.parametrize("folder", ["", ".debug"])
def test_debug_information_may_lie_in_a_file_of_its_own(tmp_path, door, folder):
    program, apart = build(tmp_path), tmp_path / folder / "late.debug"
    apart.parent.mkdir(exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, apart], check=True)
    subprocess.run(["strip", program], check=True)
    subprocess.run(["objcopy", f"--add-gnu-debuglink={apart}", program], check=True)
    assert place_of(program, door, tmp_path / "report", "place.c:") == NAMED


@pytest.mark.parametrize("build_id", [True, False])
def test_no_name_comes_out_of_a_file_that_has_taken_the_place_of_the_own_one(tmp_path, door, build_id):
    options = () if build_id else ("-Wl,--build-id=none",)
    program = build(tmp_path, *options, library=True)
    report, library = tmp_path / "report", tmp_path / "libmeet.so"
    other = tmp_path / "other.c"
    other.write_text("".join(f"void wrong_{number}(void) {{}}\n" for number in range(1000)))
    subprocess.run(["gcc", "-g", *options, "-shared", "-fPIC", other, "-o", tmp_path / "new.so"], check=True)
    job = begun(program, door, report, TOLLBAR_TIMEOUT="1")
    while "libmeet.so" not in Path(f"/proc/{job.pid}/maps").read_text():
        time.sleep(0.01)
    (tmp_path / "new.so").rename(library)
    said = report_of(report, lambda said: len(places(said)) >= 2)
    job.communicate(b"")
    assert all(place == NAMED or place.startswith(f"{library}+0x") for place in places(said)), said


def test_a_program_that_was_deleted_has_its_own_names_still(tmp_path, door):
    program, report = build(tmp_path), tmp_path / "report"
    job = begun(program, door, report)
    while os.readlink(f"/proc/{job.pid}/exe") != str(program):
        time.sleep(0.01)
    program.unlink()
    said = report_of(report, lambda said: "place.c:" in said)
    job.communicate(b"")
    assert places(said)[-1] == NAMED


HELPERS = {
    "hangs": "exec sleep 600",
    "fails": "exit 1",
    "crashes": "kill -SEGV $$",
    "talks": "while read -r line; do echo hello; done",
    "says too much": "while :; do echo 'wrong\twrong.c:1'; done",
}


@pytest.mark.parametrize("how", ["is absent", *HELPERS])
def test_where_names_cannot_be_found_out_the_job_goes_on_and_numbers_are_printed(tmp_path, door, how):
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin").mkdir()
    own = shutil.copy(door, tmp_path / "lib")
    if how in HELPERS:
        program = tmp_path / "bin" / helper.PROGRAM
        program.write_text(f"#!/bin/sh\n{HELPERS[how]}\n")
        program.chmod(0o755)
    late, report = build(tmp_path), tmp_path / "report"
    job = begun(late, own, report)
    said = report_of(report, lambda said: len(places(said)) >= 2)
    job.communicate(b"")
    assert job.returncode == 0
    if how != "says too much":  # it is believed, as it is of the library's owner
        assert all(place.startswith(f"{late}+0x") for place in places(said)), said


def test_a_program_has_no_child_and_no_signal_of_ours(tmp_path, door):
    program, report = tmp_path / "children", tmp_path / "report"
    subprocess.run(["gcc", "-g", "-O1", "-pthread", CHILDREN, "-o", program], check=True)
    job = begun(program, door, report)
    report_of(report, lambda said: "children.c:" in said)
    job.communicate(b"")
    assert job.returncode == 0


def test_a_place_in_c_plus_plus_has_no_arguments(tmp_path, door):
    (tmp_path / "meet.cpp").write_text(
        """#include <pthread.h>
namespace { namespace solver {
template <class T> struct Step { void operator()(T, const char*) const; };
template <class T> [[gnu::noinline]] void Step<T>::operator()(T, const char*) const {
    extern pthread_barrier_t* given;
    pthread_barrier_wait(given);
    asm volatile("");
}
} pthread_barrier_t* solver::given; }
extern "C" void meet(pthread_barrier_t* barrier) {
    solver::given = barrier;
    solver::Step<int>()(3, "x");
    asm volatile("");
}
"""
    )
    program = tmp_path / "late"
    library = ["g++", "-g", "-O1", "-c", tmp_path / "meet.cpp", "-o", tmp_path / "meet.o"]
    subprocess.run(library, check=True)
    subprocess.run(
        ["gcc", "-g", "-O1", "-pthread", "-DONLY_MAIN", SOURCE, tmp_path / "meet.o", "-o", program], check=True
    )
    assert place_of(program, door, tmp_path / "report", "meet.cpp:") == "solver::Step::operator() (meet.cpp:6)"


@pytest.fixture
def late(tmp_path) -> Path:
    if shutil.which("mpicc.openmpi") is None:
        left_out("Open MPI is not installed")
    (tmp_path / "late.c").write_text(MPI)
    return tmp_path / "late"


def job_of(late: Path, *options: str, **given: str) -> subprocess.Popen[bytes]:
    launcher, *of_launcher = LAUNCHERS["openmpi"]
    run = [sys.executable, "-m", "tollbar", "run", *options, "--", launcher, *of_launcher, "-n", "2", late]
    return subprocess.Popen(
        run, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, **AS_ROOT, **given},
    )  # fmt: skip


@pytest.mark.parametrize("link", ["-no-pie", "-pie"])
def test_the_place_of_a_call_of_the_mpi_is_its_function_and_line(late, door, tmp_path, link):
    subprocess.run(["mpicc.openmpi", "-g", "-O1", link, late.with_suffix(".c"), "-o", late], check=True)
    report = tmp_path / "report"
    job = job_of(late, "--timeout", "1", TOLLBAR_REPORT=str(report))
    said = report_of(report, lambda said: "late.c:" in said)
    job.communicate(b"")
    assert f", MPI_Barrier 1 at {MPI_NAMED}: rank 1 on " in said


def test_the_account_of_a_job_has_names_and_numbers(late, door, tmp_path):
    subprocess.run(["mpicc.openmpi", "-g", "-O1", late.with_suffix(".c"), "-o", late], check=True)
    report = tmp_path / "waits.json"
    job = job_of(late, "--report", str(report))
    job.communicate(b"")
    assert job.returncode == 0
    row = next(row for row in json.loads(report.read_text()) if row["call"] == "MPI_Allreduce")
    place = f"late.c:{1 + MPI[: MPI.index('/* counted */')].count(chr(10))}"
    assert row["at"] == f"main ({place})"
    assert line_of(row["address"]).endswith(place)

# SPDX-License-Identifier: Apache-2.0
"""The library, the C interface and the preloads for arm64: cross-compiled, tested under an emulator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = ("aarch64-linux-gnu-g++", "qemu-aarch64-static")
pytestmark = [
    pytest.mark.deep,
    pytest.mark.needs(
        all(map(shutil.which, TOOLS)), f"{' or '.join(TOOLS)} is not installed; run scripts/packages tools"
    ),
]

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "arm64"
ROOMS = ("base", "plan", "algorithms", "analysis", "waiting", "wire", "transports", "tuner", "doors")
#: Exhaustive proofs of plans: the same arithmetic everywhere, and hours under an emulator.
PROOFS = "^(every_size|dropped_signal)_test$"
EMULATED = {"QEMU_LD_PREFIX": "/usr/aarch64-linux-gnu"}
TEAM = """
#include <omp.h>
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(3)
    for (int i = 0; i < 100; ++i) {
#pragma omp atomic
        ++sum;
#pragma omp barrier
    }
    return printf("%d\\n", sum) < 0;
}
"""


@pytest.fixture(scope="module")
def built(run) -> Path:
    jobs = str(os.cpu_count())
    run("cmake", "--preset", "arm64", "-S", ROOT)
    targets = ("tollbar", "tollbar_openmp", *(f"tests-{room}" for room in ROOMS))
    run("cmake", "--build", BUILD, "-j", jobs, "--target", *targets)
    return BUILD


def test_the_tests_of_all_that_needs_no_mpi_pass(run, built):
    rooms = f"^({'|'.join(ROOMS)})$"
    run(
        "ctest", "--test-dir", built, "-j", "2", "--no-tests=error", "-L", rooms, "-LE", "^(beside|deep)$", "-E", PROOFS
    )


def test_an_openmp_program_runs_with_the_preload(run, built, tmp_path):
    (tmp_path / "team.c").write_text(TEAM)
    run("aarch64-linux-gnu-gcc", "-fopenmp", tmp_path / "team.c", "-o", tmp_path / "team")
    library = built / "src" / "doors" / "openmp" / "libtollbar_openmp.so"
    preload = ("-E", f"LD_PRELOAD={library}", "-E", "TOLLBAR_VERBOSE=2")
    said = run("sh", "-c", '"$@" 2>&1', "sh", TOOLS[1], *preload, tmp_path / "team", **EMULATED)
    assert "300\n" in said
    assert "tollbar" in said


def test_without_a_libdw_for_it_what_looks_at_processes_is_left_out(built):
    assert not (built / "bin" / "tollbar-look").exists()


@pytest.fixture(scope="module")
def debian(run, archive, tmp_path_factory) -> Path:
    """The root of an arm64 Debian with libdw."""
    if not shutil.which("mmdebstrap"):
        pytest.skip("mmdebstrap cannot be found; run scripts/packages tools")
    root = tmp_path_factory.mktemp("arm64") / "root"
    unpack = ("mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64", "--include=libdw-dev")
    run(*unpack, "bookworm", root, archive)
    return root


def test_what_looks_at_processes_reads_the_threads_of_one(run, debian):
    """Frames it cannot show here: the kernel tells of the emulator's registers, and of its files."""
    made = BUILD.with_name("arm64-look")
    run(
        "cmake", "--preset", "arm64", "-S", ROOT, "-B", made, "--fresh", "-DTOLLBAR_TESTS=OFF", TOLLBAR_ROOT=str(debian)
    )
    run("cmake", "--build", made, "-j", str(os.cpu_count()), "--target", "tollbar-look")
    libraries = ":".join(str(debian / folder / "aarch64-linux-gnu") for folder in ("usr/lib", "lib"))
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            look = (TOOLS[1], "-E", f"LD_LIBRARY_PATH={libraries}", made / "bin" / "tollbar-look", str(sleeper.pid))
            said = run(*look, **EMULATED)
        finally:
            sleeper.kill()
    first, end = json.JSONDecoder().raw_decode(said)
    for seen in (first, json.loads(said[end:])):
        ((thread,),) = (process["threads"] for process in seen["processes"])
        assert (thread["name"], thread["state"]) == ("sleep", "S")

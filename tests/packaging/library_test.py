# SPDX-License-Identifier: Apache-2.0
"""The library alone, without Python, MPI or anything else: by itself, and inside another build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parent.parent.parent
CONSUMERS = Path(__file__).resolve().parent
MET = "proven 1, phases 100\n"
#: As docs/requirements.md has it.
LEFT_OUT = [*(f"-DTOLLBAR_{what}=OFF" for what in ("TESTS", "BENCH", "PYTHON", "DOORS")), "-DCMAKE_UNITY_BUILD=ON"]


def files_in(prefix: Path) -> set[str]:
    """What is installed besides headers."""
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    return {name for name in files if not name.startswith("include/")}


def test_the_library_alone_is_built_without_looking_for_anything_else(run, tmp_path):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    said = run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *LEFT_OUT)
    assert re.search(r"left out|\b(python|mpi|shmem)\b", said, re.IGNORECASE) is None, said
    cache = (build / "CMakeCache.txt").read_text()
    assert re.findall(r"^(?:TOLLBAR_MPI|TOLLBAR_OSH|Python|nanobind|LIBBPF)\w*", cache, re.MULTILINE) == []
    run("cmake", "--build", build)
    run("cmake", "--install", build, "--prefix", prefix)
    shortened = {re.sub(r"^lib.*?/(?=libtollbar|pkgconfig|cmake)", "", name) for name in files_in(prefix)}
    assert {re.sub(r"\.so\..*", ".so", name) for name in shortened} == {
        "libtollbar.so",
        "libtollbar.a",
        "libtollbar-models.so",
        "libtollbar-models.a",
        "pkgconfig/tollbar.pc",
        "pkgconfig/tollbar-models.pc",
        "cmake/tollbar/tollbarConfig.cmake",
        "cmake/tollbar/tollbarConfigVersion.cmake",
        "cmake/tollbar/tollbarTargets.cmake",
        "cmake/tollbar/tollbarTargets-release.cmake",
        "cmake/tollbar/tollbar_modelsTargets.cmake",
        "cmake/tollbar/tollbar_modelsTargets-release.cmake",
    }

    consumer = tmp_path / "consumer"
    run("cmake", "-S", CONSUMERS / "consumer", "-B", consumer, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", consumer)
    assert run(consumer / "consumer") == MET


def test_inside_another_build_there_is_only_the_library(run, tmp_path):
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    run(
        *("cmake", "-S", CONSUMERS / "embedding", "-B", build, "-G", "Ninja"),  # as it is compiled soonest
        *(f"-DTOLLBAR_SOURCE={ROOT}", "-DCMAKE_BUILD_TYPE=Debug"),
    )
    run("cmake", "--build", build)
    assert run(build / "embedding") == MET
    made = {path.name for path in (build / "_deps" / "tollbar-build").rglob("*")}
    assert "libtollbar.so" in made
    others = (
        "tollbar-",
        "_native",
        "libtollbar-models.",
        "libtollbar_mpi_",
        "libtollbar_pthread",
        "libtollbar_shmem.",
        "mca_",
    )
    assert {name for name in made if name.startswith(others)} == set()
    run("cmake", "--install", build, "--prefix", prefix)
    assert files_in(prefix) == {"bin/embedding"}


def test_without_libbpf_one_line_says_that_the_daemon_is_left_out(run, tmp_path):
    parts = (f"-DTOLLBAR_{what}=OFF" for what in ("TESTS", "BENCH", "PYTHON"))
    said = run("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *parts, "-DLIBBPF_LIBRARY=")
    (line,) = [line for line in said.splitlines() if "libbpf-dev" in line]
    assert line.endswith("the NIC's programs and their daemon are left out")
    targets = run("cmake", "--build", tmp_path, "--target", "help")
    assert "libtollbar.so" in targets
    assert "tollbar-nicd" not in targets

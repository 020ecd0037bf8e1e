# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` makes can be built against from outside the tree."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

HEADERS = Path(__file__).resolve().parent.parent.parent / "include" / "tollbar"
CONSUMER = Path(__file__).resolve().parent / "consumer"
#: Of headers that include a foreign one: its compilers.
COMPILERS = {"mpi": ("mpicxx.openmpi", "mpicxx.mpich"), "shmem": ("oshcxx",)}
MET = "proven 1, phases 100\n"


def test_a_program_builds_and_runs_by_find_package(run, prefix, tmp_path):
    run("cmake", "-S", CONSUMER, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer") == MET
    assert run(tmp_path / "consumer-static") == MET
    assert run(tmp_path / "consumer-c") == "closed, open\n"


@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
def test_a_program_builds_and_runs_by_pkg_config(run, prefix, tmp_path):
    (description,) = prefix.rglob("tollbar.pc")
    words = ("pkg-config", "--cflags", "--libs", "tollbar")
    flags = run(*words, PKG_CONFIG_PATH=str(description.parent)).split()
    libraries = {"LD_LIBRARY_PATH": str(description.parent.parent)}
    for compiler, source, says in (
        (("c++", "-std=c++20"), "consumer.cpp", MET),
        (("cc", "-std=c11"), "consumer.c", "closed, open\n"),
    ):
        program = tmp_path / source.replace(".", "-")
        run(*compiler, CONSUMER / source, *flags, "-o", program)
        assert run(program, **libraries) == says


def test_every_public_header_is_installed_and_stands_alone(run, prefix):
    folder = prefix / "include" / "tollbar"
    installed = sorted(path.relative_to(folder) for path in folder.rglob("*.h*"))
    assert installed == sorted(path.relative_to(HEADERS) for path in HEADERS.rglob("*.h*"))
    for name in installed:
        header = folder / name
        language = ("c", "-std=c11") if header.suffix == ".h" else ("c++", "-std=c++20")
        for compiler in filter(shutil.which, COMPILERS.get(header.stem, ("c++",))):
            run(compiler, "-fsyntax-only", "-w", "-I", prefix / "include", "-x", *language, header)


def test_no_installed_text_names_the_build(prefix):
    texts = [path for path in prefix.rglob("*") if path.suffix in {".cmake", ".pc", ".hpp", ".h"}]
    assert len(texts) > 10
    checkout = str(HEADERS.parent.parent)
    assert [str(path) for path in texts if checkout in path.read_text()] == []

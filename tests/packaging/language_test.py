# SPDX-License-Identifier: Apache-2.0
"""What a compiler says about a wrong use of the headers; checked and unchecked files of one program."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

MIXED = Path(__file__).resolve().parent / "mixed"
COMPILERS = [
    pytest.param(name, marks=() if name == "g++" else pytest.mark.deep)
    for name in ("g++", "clang++-14", "clang++")
    if shutil.which(name)
]


def complaints(compiler: str, prefix: Path, standard: str, source: str) -> list[str]:
    """The errors of a source that must not compile, without their places."""
    done = subprocess.run(
        [compiler, f"-std={standard}", "-fsyntax-only", "-I", prefix / "include", "-x", "c++", "-"],
        input=source,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    return re.findall(r"error: (.*)", done.stderr)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_an_older_language_is_named_and_nothing_else(prefix, compiler):
    headers = sorted((prefix / "include" / "tollbar").rglob("*.hpp"))
    assert len(headers) > 15
    for header in headers:
        name = header.relative_to(prefix / "include")
        if name.name in ("mpi.hpp", "checked.hpp"):  # C++17 is enough
            continue
        first, *others = complaints(compiler, prefix, "c++17", f"#include <{name}>\n")
        assert "tollbar needs -std=c++20" in first, name
        assert [error for error in others if "a compiler for C++20" not in error] == [], name


WRONG = {
    "void use() { tollbar::barrier barrier(2, [](int) {}); }": "is called without arguments",
    "void use() { tollbar::barrier barrier(2, 3); }": "is called without arguments",
    "struct Fixed { Fixed(Fixed&&) = delete; void operator()(); };\n"
    "constexpr auto most = tollbar::barrier<Fixed>::max();": "must be movable",
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_use_is_told_what_is_wrong_with_it(prefix, compiler, wrong):
    source = f"#include <tollbar/barrier.hpp>\n#include <tollbar/participant.hpp>\n{wrong}\n"
    errors = complaints(compiler, prefix, "c++20", source)
    assert any(WRONG[wrong] in error for error in errors), errors


@pytest.fixture(scope="module", params=[pytest.param("-O0", marks=pytest.mark.deep), "-O2"])
def programs(run, request, prefix, tmp_path_factory) -> list[Path]:
    """The program of two files, linked in both orders."""
    folder = tmp_path_factory.mktemp("mixed")
    libraries = next(prefix.rglob("libtollbar.so")).parent
    options = ("-std=c++20", request.param, "-I", prefix / "include", "-pthread")
    sources = {
        "main": ("main.cpp",),
        "with": ("file.cpp", "-DFILE_NAME=with_checks", "-DTOLLBAR_CHECKED=1"),
        "without": ("file.cpp", "-DFILE_NAME=without_checks"),
    }
    for name, (source, *more) in sources.items():
        run("g++", *options, *more, "-c", MIXED / source, "-o", folder / f"{name}.o")
    made = []
    for order in itertools.permutations(("with.o", "without.o", "main.o")):
        program = folder / "-".join(Path(name).stem for name in order)
        objects = [folder / name for name in order]
        run("g++", *objects, "-L", libraries, "-ltollbar", f"-Wl,-rpath,{libraries}", "-pthread", "-o", program)
        made.append(program)
    return made


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("right", ""),
        ("checked wait", "tollbar: rank 0: wait without arrive\n"),
        ("unchecked wait", ""),
        ("checked arrive", "tollbar: barrier: arrive(5) where the phase expects 4 more\n"),
        ("unchecked arrive", ""),
    ],
)
def test_a_file_is_checked_if_it_asked_for_it_whatever_the_others_did(programs, asked, said):
    for program in programs:
        done = subprocess.run([program, asked], capture_output=True, text=True, timeout=60)
        assert done.stderr == said, program.name
        assert (done.returncode == 0) == (said == ""), program.name

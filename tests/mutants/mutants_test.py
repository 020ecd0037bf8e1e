# SPDX-License-Identifier: Apache-2.0
"""Tests of the tests: each bug of mutants.toml is built into a copy of the source; a named test must fail."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MUTANTS = tomllib.loads((HERE / "mutants.toml").read_text())["mutant"]
LIBRARY = (
    "src/plan",
    "src/algorithms",
    "src/analysis",
    "src/runtime",
    "src/simulation",
    "src/transports/mpi",
    "src/transports/words",
    "src/transports/udp",
    "src/tuner",
    "src/workload",
    "src/doors/cxx",
    "src/communicator/placing.cpp",
)
COPIED = (
    "include",
    "src",
    "tests/transports",
    "tests/communicator",
    "tests/runtime",
    "tests/simulation",
    *(f"tests/{name}" for name in ("main.cpp", "child.hpp", "refusal.hpp", "temporary.hpp")),
)
CXX = os.environ.get("CXX", "c++")

#: What tests headers alone. Else each mutant of a header that everything includes compiles everything.
STAND_ALONE = ("tests/runtime/company_test.cpp",)

#: What most files include, compiled once.
PRECOMPILED = (
    *("algorithm", "array", "atomic", "charconv", "chrono", "functional", "map", "memory", "mutex"),
    *("optional", "set", "span", "sstream", "string", "thread", "variant", "vector"),
)

# A mutant may hang; only that turns a limit into a verdict. Sound code gets as long as it needs.
HANGS_AFTER_S = 10
SOUND_WITHIN_S = 300


def source_of(mutant: dict[str, str]) -> str:
    """The source of the test that must fail."""
    return f"tests/{mutant.get('within', 'transports/words')}/{mutant['test']}.cpp"


class Workshop:
    """A copy of the source that may be changed, and the object files of what was built from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            (copy := folder / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, copy)
        self.library = [
            str(p.relative_to(folder))
            for part in LIBRARY
            for p in sorted((folder / part).glob("*.cpp")) or [folder / part]
        ]
        self.sound: dict[tuple[str, str], str] = {}
        (folder / "precompiled.hpp").write_text("".join(f"#include <{name}>\n" for name in PRECOMPILED))
        self.call_compiler("-x", "c++-header", "precompiled.hpp", "-o", "precompiled.hpp.gch")

    def call_compiler(self, *words: str | Path) -> None:
        language = [CXX, "-std=c++20", "-O0", "-pthread", "-Iinclude", "-Isrc", "-Itests"]
        definitions = ["TOLLBAR_CHECKED=1", "TOLLBAR_SANITIZED=0"]
        definitions += ['TOLLBAR_VISITOR="/bin/false"', 'TOLLBAR_TESTS_DIR="tests"']
        command = [*language, *(f"-D{what}" for what in definitions), *words]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def compile(self, source: str, suffix: str = "") -> Path:
        target = self.folder / "objects" / (source.replace("/", ".") + suffix + ".o")
        target.parent.mkdir(exist_ok=True)
        self.call_compiler("-include", "precompiled.hpp", "-MMD", "-c", source, "-o", target)
        return target

    def objects(self, sources: list[str], mutated: str | None = None) -> list[Path]:
        """The object files of the sources: those that do not see the mutated file are made once."""

        def build(source: str) -> Path:
            sound = self.folder / "objects" / (source.replace("/", ".") + ".o")
            if mutated and mutated in re.split(r"\s+", sound.with_suffix(".d").read_text()):
                return self.compile(source, ".mutated")
            return sound if sound.exists() else self.compile(source)

        with ThreadPoolExecutor(os.cpu_count()) as workers:
            return list(workers.map(build, sources))

    def verdict(self, test: str, case: str, limit_s: int, mutated: str | None = None) -> str:
        """ "passes", "fails" or "hangs"."""
        library = [] if test in STAND_ALONE else self.library
        sources = [*library, "tests/main.cpp", test]
        program = self.folder / Path(test).stem
        objects = self.objects(sources, mutated)
        subprocess.run([CXX, *objects, "-pthread", "-o", program], check=True, capture_output=True)
        command = [program, f"--test-case={case}*", "--abort-after=1"]
        try:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return "hangs"
        assert re.search(r"test cases:\s+1 \|", done.stdout), (
            f"no one test case '{case}' in {test}:\n{done.stdout}"
        )
        return "passes" if done.returncode == 0 else "fails"

    def sound_verdict(self, test: str, case: str) -> str:
        if (test, case) not in self.sound:
            self.sound[test, case] = self.verdict(test, case, SOUND_WITHIN_S)
        return self.sound[test, case]

    def mutant_verdict(self, mutant: dict[str, str]) -> str:
        path = self.folder / mutant["file"]
        text = path.read_text()
        assert text.count(mutant["old"]) == 1, f"the text to replace must occur once in {mutant['file']}"
        path.write_text(text.replace(mutant["old"], mutant["new"]))
        try:
            return self.verdict(source_of(mutant), mutant["case"], HANGS_AFTER_S, mutant["file"])
        finally:
            path.write_text(text)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    if shutil.which(CXX) is None:
        pytest.skip(f"no compiler {CXX}")
    probe = [CXX, "-x", "c++", "-E", "-include", "doctest/doctest.h", "/dev/null", "-o", "/dev/null"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        pytest.skip("doctest is not installed (Debian: doctest-dev)")
    return Workshop(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant["name"])
def test_a_named_test_fails_for_the_mutant_and_passes_without_it(workshop, mutant):
    assert workshop.sound_verdict(source_of(mutant), mutant["case"]) == "passes"
    assert workshop.mutant_verdict(mutant) in ("fails", "hangs")

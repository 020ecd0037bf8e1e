# SPDX-License-Identifier: Apache-2.0
"""Tests of the tests: with each bug of mutants.toml built into a copy of the source, what it names fails."""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from needs import left_out

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MUTANTS = [
    pytest.param(caught_by, name, *bug, id=name)
    for caught_by, bugs in tomllib.loads((HERE / "mutants.toml").read_text()).items()
    for name, (file, *texts) in bugs.items()
    for bug in [(file, list(zip(texts[::2], texts[1::2], strict=True)))]
]
#: Those of files that a change has touched come first, in case there is not time for all (scripts/test).
MUTANTS.sort(key=lambda mutant: mutant.values[2] not in os.environ.get("CHANGED", "").split())
#: Rooms of src that need another library, or are programs or libraries of their own.
APART = ("doors", "look", "membership", "nicd", "transports/nic", "transports/shmem")
ROOMS = sorted(
    {
        room
        for source in (ROOT / "src").rglob("*.cpp")
        for room in [source.parent.relative_to(ROOT / "src").as_posix()]
        if not f"{room}/".startswith(tuple(f"{apart}/" for apart in APART))
    }
)
#: What a linker takes its objects from, where a test needs them.
LIBRARY = (*(f"src/{room}" for room in (*ROOMS, "doors/cxx")), "bench/engine/workload", "lab/models/checks.cpp",
           "lab/models/cores", "lab/models/nic", "lab/models/scheduler")  # fmt: skip
#: Folders of which a workshop has a copy.
COPIED = ("include", "src", "tests", "python/native", "bench/engine/workload", "lab")
#: Sources that the checker calls; they include what stands for the processor's words.
MODELS = {
    "model": ("tests/model/mutant.cpp", "tests/model/checker.cpp"),
    "nic": (
        *("tests/transports/nic/protocol_model.cpp", "tests/transports/nic/host_member.cpp"),
        *("src/transports/udp/protocol.cpp", "tests/model/checker.cpp"),
    ),
}
CXX = os.environ.get("CXX", "c++")
#: What a build makes of tables.
GENERATED = ROOT / "build/release/src/missing"
FLAGS = ("-std=c++20", "-pthread", "-U_FORTIFY_SOURCE", "-Iinclude", "-Isrc", "-Ipython", "-Itests",
         "-Itests/model", "-Isrc/transports/udp", "-Ibench/engine/workload", "-Ilab/bench/threads", "-Ilab",
         "-Ilab/include", "-Ilab/tests", f"-I{GENERATED}", "-DTOLLBAR_CHECKED=1", "-DTOLLBAR_SANITIZED=0",
         '-DTOLLBAR_EMULATOR=""', '-DTOLLBAR_VISITOR="/bin/false"', '-DTOLLBAR_TESTS_DIR="tests"')  # fmt: skip
#: What most files include, compiled once.
PRECOMPILED = ("algorithm", "array", "atomic", "charconv", "chrono", "functional", "map", "memory", "mutex",
               "optional", "set", "span", "sstream", "string", "thread", "variant", "vector")  # fmt: skip

# A mutant may hang; only that turns a limit into a verdict. All else gets as long as it needs.
HANGS_AFTER_S = 10
SOUND_WITHIN_S = 300


class Catcher(NamedTuple):
    """The test that must fail: a case, or a situation of the model checker, and what is linked for it."""

    sources: tuple[str, ...]
    arguments: tuple[str, ...]
    is_model: bool


def file_of_test(where: str) -> str:
    """Names start below tests/; those of the laboratory's tests below the root."""
    return f"{where}.cpp" if where.startswith("lab/") else f"tests/{where}.cpp"


def catcher(caught_by: str, title: str) -> Catcher:
    where, _, what = caught_by.partition(": ")
    model, _, situation = where.partition(" ")
    if model in MODELS:
        return Catcher(MODELS[model], (title, situation, what), True)
    return Catcher((file_of_test(where), "tests/main.cpp"), (f"--test-case={what}*", "--abort-after=1"), False)


def mutated(folder: Path, file: str, replaced: list[tuple[str, str]]) -> str:
    """The file's text with the bug in it."""
    text = (folder / file).read_text()
    for old, new in replaced:
        assert text.count(old) == 1, f"the text to replace must occur once in {file}:\n{old}"
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def once(made: Path):
    """Gives whether it has yet to be made; other processes wait for whoever makes it."""
    made.parent.mkdir(parents=True, exist_ok=True)
    with made.with_name(made.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not made.exists()


class Workshop:
    """Sound objects that all processes of a run share, and a copy of the source that this one may change."""

    def __init__(self, shared: Path, own: Path) -> None:
        self.shared, self.folder = shared, own
        for name in COPIED:
            ignored = shutil.ignore_patterns("*.py", "*.so", "*.toml", "*.md")
            shutil.copytree(ROOT / name, own / name, ignore=ignored, dirs_exist_ok=True)
        self.archive = shared / "sound.a"
        with once(self.archive) as is_missing:
            if is_missing:
                self.make_archive()

    def make_archive(self) -> None:
        names = "".join(f"#include <{name}>\n" for name in PRECOMPILED)
        (self.shared / "precompiled.hpp").write_text(names)
        self.compile("-x", "c++-header", self.shared / "precompiled.hpp", "-o", self.shared / "precompiled.hpp.gch")
        parts = [self.folder / part for part in LIBRARY]
        sources = [path for part in parts for path in sorted(part.rglob("*.cpp")) or [part]]
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            objects = list(workers.map(lambda path: self.sound(str(path.relative_to(self.folder))), sources))
        subprocess.run(["ar", "rcs", self.archive, *objects], check=True)

    def compile(self, *words: str | Path) -> None:
        done = subprocess.run([CXX, *FLAGS, *words], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def object_of(self, source: str, folder: Path) -> Path:
        made = folder / "objects" / (source.replace("/", "+") + ".o")
        optimized = source.startswith(("tests/model/checker", "tests/transports/nic/", "src/transports/udp/"))
        words = ["-O2"] if optimized else ["-O0", "-include", self.shared / "precompiled.hpp"]
        self.compile(*words, "-MMD", "-c", source, "-o", made)
        return made

    def sound(self, source: str) -> Path:
        made = self.shared / "objects" / (source.replace("/", "+") + ".o")
        with once(made) as is_missing:
            return self.object_of(source, self.shared) if is_missing else made

    def link(self, objects: list[Path], program: Path) -> list[str]:
        """Gives the sources of the library that went into it."""
        listed = self.folder / "linked.map"
        words = [CXX, *objects, self.archive, "-pthread", f"-Wl,-Map={listed}", "-o", program]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        taken = dict.fromkeys(re.findall(r"sound\.a\(([\w+.-]+)\.o\)", listed.read_text()))
        return [name.replace("+", "/") for name in taken]

    def sound_program(self, one: Catcher) -> tuple[Path, list[str]]:
        """And the sources of all that it consists of."""
        program = self.shared / "programs" / one.sources[0].replace("/", "+")
        sources = program.with_suffix(".sources")
        with once(program) as is_missing:
            if is_missing:
                taken = self.link([self.sound(source) for source in one.sources], program)
                sources.write_text("\n".join([*one.sources, *taken]))
        return program, sources.read_text().split()

    def verdict(self, program: Path, one: Catcher, limit_s: int) -> str:
        """ "passes", "fails" or "hangs"."""
        command = [program, *one.arguments]
        try:
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=limit_s)
        except subprocess.TimeoutExpired:
            return "hangs"
        if one.is_model:  # which ends well where it has found what it is to find
            assert done.returncode in (0, 1), done.stderr
            return "passes" if done.returncode == 1 else "fails"
        assert re.search(r"test cases:\s+1 \|", done.stdout), f"no one test case {command}:\n{done.stdout}"
        return "passes" if done.returncode == 0 else "fails"

    def sound_verdict(self, one: Catcher) -> str:
        program, _ = self.sound_program(one)
        verdict = program.with_name(f"{program.name} {one.arguments[0]}".replace("/", "+"))
        with once(verdict) as is_missing:
            if is_missing:
                verdict.write_text(self.verdict(program, one, SOUND_WITHIN_S))
        return verdict.read_text()

    def mutant_verdict(self, one: Catcher, file: str, replaced: list[tuple[str, str]]) -> str:
        path = self.folder / file
        sound, text = path.read_text(), mutated(self.folder, file, replaced)
        _, sources = self.sound_program(one)
        objects = {source: self.shared / "objects" / (source.replace("/", "+") + ".o") for source in sources}
        changed = [name for name, made in objects.items() if file in made.with_suffix(".d").read_text().split()]
        assert changed, f"nothing of {one.sources[0]} is made of {file}"
        path.write_text(text)
        try:
            with ThreadPoolExecutor(os.cpu_count()) as workers:
                made = workers.map(lambda name: self.object_of(name, self.folder), changed)
                remade = dict(zip(changed, made, strict=True))
        finally:
            path.write_text(sound)
        own = [remade.get(source, objects[source]) for source in one.sources]
        program = self.folder / "mutant"
        self.link([*own, *(remade[name] for name in changed if name not in one.sources)], program)
        return self.verdict(program, one, SOUND_WITHIN_S if one.is_model else HANGS_AFTER_S)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    if shutil.which(CXX) is None:
        left_out(f"no compiler {CXX}")
    if not (GENERATED / "calls.inc").exists():
        left_out("build/release is not there; run `make`")
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "mutants"
    (shared / "objects").mkdir(parents=True, exist_ok=True)
    own = tmp_path_factory.mktemp("mutants")
    (own / "objects").mkdir()
    return Workshop(shared, own)


def test_what_each_mutant_replaces_and_the_test_that_it_names_are_there():
    """Every change waits for this, so that one that renames either is not found out days later."""
    for caught_by, _, file, replaced in (mutant.values for mutant in MUTANTS):
        assert mutated(ROOT, file, replaced)
        where, _, case = caught_by.partition(": ")
        if where.partition(" ")[0] not in MODELS:
            text = (ROOT / file_of_test(where)).read_text()
            assert len(re.findall(rf'TEST_CASE\(\s*"{re.escape(case)}', text)) == 1, caught_by


@pytest.mark.deep
@pytest.mark.parametrize(("caught_by", "name", "file", "replaced"), MUTANTS)
def test_what_a_mutant_names_fails_for_it_and_passes_without_it(workshop, caught_by, name, file, replaced):
    one = catcher(caught_by, name)
    header = "relacy/relacy.hpp" if one.is_model else "doctest/doctest.h"
    probe = [CXX, "-x", "c++", "-E", "-include", header, "/dev/null", "-o", "/dev/null"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        left_out(f"{header} is not installed")
    if not one.is_model:  # ctest's model_original and nic_model_original look at the sound ones
        assert workshop.sound_verdict(one) == "passes"
    assert workshop.mutant_verdict(one, file, replaced) in ("fails", "hangs")

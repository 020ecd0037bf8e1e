# SPDX-License-Identifier: Apache-2.0
"""The programs of GCC's and of LLVM's own OpenMP tests that pass without tollbar's preload pass with it.

The sources come from Debian, about 100 MB each, once into build/suites. `pytest -rP` shows the counts."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import doors, paths

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "build" / "suites"
DOOR = paths.find_library(doors.THREADS["openmp"])
COMPILERS = {"libgomp": ("gcc", "g++"), "libomp": ("clang-14", "clang++-14")}
LIMIT_S = 30  # for one run without the preload; three times as long with it
RUNS = 5  #: of a program that fails with the preload: it has to fail without it, too

pytestmark = [pytest.mark.deep, pytest.mark.needs(DOOR, "libtollbar_openmp.so is not built")]


@dataclass(frozen=True)
class Program:
    source: Path
    flags: tuple[str, ...]
    runs: tuple[tuple[dict[str, str], tuple[str, ...]], ...]  #: variables and arguments; all of them have to end with 0


def shell(*words: str) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} to get the sources with")
    done = subprocess.run(words, cwd=HERE, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{shlex.join(words)[:80]}...: {(done.stderr.splitlines() or ['?'])[-1]}")


def source_of_gcc(_archive: str) -> Path:
    """libgomp's tests, which are in a package of Debian's."""
    if not list(HERE.glob("gcc-*/libgomp/testsuite")):
        shell("apt-get", "download", "gcc-12-source")
        shell("sh", "-c", "dpkg-deb --fsys-tarfile gcc-12-source_*.deb | tar -x --wildcards '*/gcc-12.*.tar.xz'")
        shell("sh", "-c", "tar -xf usr/src/gcc-12/gcc-12.*.tar.xz --wildcards '*/libgomp/testsuite/*'")
    return next(HERE.glob("gcc-*/libgomp/testsuite"))


def source_of_llvm(archive: str) -> Path:
    """libomp's tests, which are in a source package of Debian's."""
    if not list(HERE.glob("llvm-*/openmp/runtime/test")):
        (HERE / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (HERE / "sources").write_text(
            f"deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {archive} bookworm main\n"
        )
        options = [f"Dir::Etc::SourceList={HERE}/sources", "Dir::Etc::SourceParts=-", f"Dir::State::Lists={HERE}/lists"]
        apt = ["apt-get", "-q", *(word for option in options for word in ("-o", option))]
        shell(*apt, "update")
        shell(*apt, "--download-only", "source", "llvm-toolchain-14")
        shell("sh", "-c", "tar -xf llvm-toolchain-14_*.orig.tar.xz --wildcards '*/openmp/runtime/[ts]*'")
    return next(HERE.glob("llvm-*/openmp/runtime/test"))


def programs_of_gcc(folder: Path) -> list[Program]:
    """As its comments for DejaGnu say."""
    found = []
    for name in ("libgomp.c", "libgomp.c++", "libgomp.c-c++-common"):
        for source in sorted((folder / name).glob("*.[cC]")):
            text = source.read_text(errors="replace")
            if re.search(r"dg-do\s+(compile|link)|dg-shouldfail|target \{? ?offload_|_device", text):
                continue
            own = re.search(r'dg-options\s+"([^"]*)"', text)
            flags = own[1] if own else "-O2"
            for more, target in re.findall(r'dg-additional-options\s+"([^"]*)"(?: \{ ?target ([^}]*))?', text):
                if target.strip() in ("", "c", "avx_runtime", "sse2_runtime"):
                    flags += f" {more}"
            environment = dict(re.findall(r'dg-set-target-env-var\s+(\w+)\s+"([^"]*)"', text))
            found.append(Program(source, tuple(flags.split()), ((environment, ()),)))
    return found


def programs_of_llvm(folder: Path) -> list[Program]:
    """As its comments for lit say; what FileCheck would read is not looked at."""
    found = []
    for source in sorted([*folder.rglob("*.c"), *folder.rglob("*.cpp")]):
        lines = "\n".join(re.findall(r"RUN:(.*)", source.read_text(errors="replace"))).replace("\\\n", " ")
        compiled = re.search(r"%libomp-(?:c99-|cxx-)?compile(?:-c)?(?:-and-run)?([^&|\n]*)", lines)
        if not compiled or "%T/" in lines or "%preload" in lines:
            continue
        lines = re.sub(r"%libomp-\S*compile-and-run", "%libomp-run", lines)
        runs = re.findall(r"((?:\w+=\S*\s+)*)(%not\s+)?%libomp-run([^&|\n]*)", lines)
        if runs and not any(inverse for _, inverse, _ in runs):
            flags = (f"-I{folder}", f"-I{folder / 'ompt'}", *compiled[1].replace("%s", "").split(), "-lm")
            found.append(Program(source, flags, tuple(
                (dict(word.split("=", 1) for word in shlex.split(variables)), tuple(shlex.split(arguments)))
                for variables, _, arguments in runs)))  # fmt: skip
    return found


SUITES = {"gcc": (source_of_gcc, programs_of_gcc), "llvm": (source_of_llvm, programs_of_llvm)}


def failure(program: Program, made: Path, door: Path | None) -> str:
    """How one of its runs ends that fails; empty where none does."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "KMP_", "GOMP_"))}
    more = {"LD_PRELOAD": str(door)} if door else {}
    for variables, arguments in program.runs:
        # Other tests run on the same CPUs.
        environment = kept | {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"} | variables | more
        with subprocess.Popen(
            [made, *arguments], env=environment, cwd=made.parent, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                _, said = process.communicate(timeout=LIMIT_S * (3 if door else 1))
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # with children that it waits for
                return "hangs"
        if process.returncode != 0:
            return f"ends with {process.returncode}: {said.decode(errors='replace')[-200:]}"
    return ""


def verdict(program: Program, compilers: tuple[str, str], folder: Path) -> str | None:
    """How it fails with the preload alone, empty where it passes; None where it does not pass without."""
    place = folder / str(program.source.relative_to(HERE)).replace("/", "+")
    place.mkdir()
    compiler = compilers[program.source.suffix in (".C", ".cpp")]
    command = [compiler, "-w", "-fopenmp", program.source, *program.flags, "-o", place / "program", "-lm"]
    if subprocess.run(command, cwd=place, capture_output=True).returncode != 0:
        return None
    if failure(program, place / "program", None):
        return None
    with_door = failure(program, place / "program", DOOR)
    if with_door and any(failure(program, place / "program", None) for _ in range(RUNS)):
        with_door = ""
    shutil.rmtree(place)
    return with_door


@pytest.mark.parametrize("runtime", COMPILERS)
@pytest.mark.parametrize("suite", SUITES)
def test_what_passes_with_the_runtime_alone_passes_through_the_door(suite, runtime, archive, tmp_path):
    compilers = COMPILERS[runtime]
    if not all(map(shutil.which, compilers)):
        left_out(f"{' and '.join(compilers)} are not installed")
    HERE.mkdir(parents=True, exist_ok=True)
    source, read = SUITES[suite]
    programs = read(source(archive))
    with ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda program: verdict(program, compilers, tmp_path), programs))
    passed = [(program, how) for program, how in zip(programs, verdicts, strict=True) if how is not None]
    differ = {program.source.name: how for program, how in passed if how}
    print(f"{suite}'s tests on {runtime}: {len(programs)} programs, {len(passed)} pass without the preload, "
          f"{len(passed) - len(differ)} with it")  # fmt: skip
    assert not differ
    assert len(passed) > len(programs) / 3  # many of the other compiler's do not compile, or need its runtime

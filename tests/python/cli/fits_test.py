# SPDX-License-Identifier: Apache-2.0
"""tollbar run changes no program: it ends, and prints, as without, whatever it is built with and runs below."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import doors, paths

LIMIT_S = 120

THREADS = r"""
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t barrier;
static int before[2];
static void work(long self) {
    for (int step = 1; step <= 20; ++step) {
        before[self] = step;
        pthread_barrier_wait(&barrier);
        if (before[1 - self] != step) puts("too early");
        pthread_barrier_wait(&barrier);
    }
}
static void* other(void* unused) { work(1); return unused; }
int main(int count, char** words) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    work(0);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    printf("%d arguments\n", count - 1);
    fflush(stdout);
    fprintf(stderr, "complains\n");
    return words[1] != NULL && words[1][0] == '7' ? 7 : 3;
}
"""

TEAMS = r"""
#include <stdio.h>
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    for (int step = 0; step < 10; ++step) {
#pragma omp barrier
        ++sum;
    }
    printf("%d\n", sum);
    return 3;
}
"""

OWN_OPTIONS = '\nconst char* __asan_default_options(void) { return ""; }\n'

#: Name: compiler, options, the file or the package that they need.
BUILT = {
    "plain": ("gcc", [], "gcc"),
    "asan": ("gcc", ["-fsanitize=address"], "gcc"),
    "asan-with-options": ("gcc", ["-fsanitize=address", "-DOPTIONS"], "gcc"),
    "tsan": ("gcc", ["-g", "-fsanitize=thread"], "gcc"),
    "ubsan": ("gcc", ["-fsanitize=undefined"], "gcc"),
    "clang-asan": ("clang-14", ["-fsanitize=address"], "libclang-rt-14-dev"),
    "clang-tsan": ("clang-14", ["-g", "-fsanitize=thread"], "libclang-rt-14-dev"),
    "static": ("gcc", ["-static"], "gcc"),
    "static-pie": ("gcc", ["-static-pie"], "gcc"),
    "musl": ("musl-gcc", [], "musl-tools"),
    "musl-static": ("musl-gcc", ["-static"], "musl-tools"),
    "32 bits": ("gcc", ["-m32"], "gcc-12-multilib"),
}
#: How one is started, {} being the program.
STARTED = {
    "by its name": "{} a b",
    "below a shell": "sh -c '{} 7; exit 5'",
    "by a script": "{}.sh",
    "behind other words": "env A=1 nice -n 1 timeout 100 {} 7",
    "with all names bound": "env LD_BIND_NOW=1 {}",
    "with a clean environment": "env -i {}",
}
#: What a shell hands on to a program that nobody has looked at: a loader of 32 bits says that it leaves the library
#: out, and a sanitizer whose options are the program's own insists on being first.
LIMITS = {(name, started) for name in ("32 bits", "asan-with-options") for started in ("below a shell", "by a script")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """built(name, source) -> the program, once; beside it a script that starts it, with and without a first line."""
    folder = tmp_path_factory.mktemp("fits")

    def build(name, source=THREADS, *more):
        compiler, options, package = BUILT[name]
        program = folder / f"{name.replace(' ', '-')}-{len(source)}{''.join(more)}"
        if program.exists():
            return program
        if shutil.which(compiler) is None:
            left_out(f"{package} is not installed")
        file = folder / f"{program.name}.c"
        file.write_text(source + (OWN_OPTIONS if "-DOPTIONS" in options else ""))
        done = subprocess.run([compiler, "-pthread", *options, *more, file, "-o", program], capture_output=True)
        if done.returncode != 0:
            left_out(f"{package} is not installed: {done.stderr.decode()[:200]}")
        script = Path(f"{program}.sh")
        script.write_text(f"{program} 7\n{program}\n")
        script.chmod(0o755)
        return program

    return build


@pytest.fixture(autouse=True)
def all_doors_are_built():
    for library in doors.THREADS.values():
        if paths.find_library(library) is None:
            left_out(f"{library} is not built")


def run(words, *options, through=True, **settings):
    command = [sys.executable, "-m", "tollbar", "run", *options, "--", *words] if through else words
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, **settings)
    return done.returncode, done.stdout, re.sub(r"==\d+==|\(pid=\d+\)|0x[0-9a-f]+", "", done.stderr)


def as_without(words, *options, **settings):
    shell = {"words": ["/bin/sh", *words]} if words[0].endswith(".sh") else {"words": words}
    without = run(**shell, through=False, **settings)
    assert run(words, *options, **settings) == without
    return without


QUICK = ("by its name", "below a shell")
ALL = [
    pytest.param(name, how, marks=() if how in QUICK else pytest.mark.deep)
    for name in BUILT
    for how in STARTED
    if (name, how) not in LIMITS
]


@pytest.mark.parametrize(("name", "started"), ALL)
def test_a_program_of_threads_is_as_without(built, name, started):
    program = built(name)
    words = STARTED[started].format(program)
    words = ["sh", "-c", words.split("'")[1]] if "'" in words else words.split()
    code, printed, _ = as_without(words)
    assert code in (3, 5, 7)
    assert "too early" not in printed


@pytest.mark.parametrize("name", ["plain", "asan", "tsan", "musl", "static", "32 bits"])
def test_a_program_beside_which_we_stay_is_as_without(built, name):
    as_without([str(built(name)), "a"], "--timeout", "100", "--on-hang", "kill")


@pytest.mark.parametrize("name", ["plain", "asan"])
def test_a_program_of_openmp_is_as_without(built, name):
    as_without([str(built(name, TEAMS, "-fopenmp"))])


@pytest.mark.parametrize("tool", ["helgrind", "drd", "memcheck"])
def test_a_checker_finds_what_it_finds_without(built, tool):
    if shutil.which("valgrind") is None:
        left_out("valgrind is not installed")
    program = str(built("plain"))
    code, _, said = as_without(["valgrind", "-q", f"--tool={tool}", "--error-exitcode=99", program, "7"])
    assert (code, said) == (7, "complains\n")


@pytest.mark.parametrize("door", [[], ["--door", "pthread"]])
def test_a_door_that_does_not_fit_is_shut_and_says_so_where_that_is_asked_for(built, door):
    program = str(built("musl"))
    code, _, said = run([program], *door, env={**os.environ, "TOLLBAR_VERBOSE": "1"})
    assert code == 3
    said_of_musl = r"tollbar run: \S+ gets no library: /lib/ld-musl\S+ loads it, and not this machine's glibc\n"
    assert re.search(said_of_musl, said)
    code, _, said = run([str(built("tsan"))], *door, env={**os.environ, "TOLLBAR_VERBOSE": "1"})
    assert "tollbar: pthread barriers are left as they are: the program runs under the thread sanitizer\n" in said


def test_a_program_that_cannot_be_read_runs(built, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root, to become somebody else")
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:3]:
        folder.chmod(folder.stat().st_mode | 0o011)
    program = shutil.copy(built("plain"), tmp_path / "closed")
    Path(program).chmod(0o111)
    as_without([str(program), "7"], user=65534)


def test_the_users_libraries_come_before_ours_and_a_sanitizers_before_all(built, monkeypatch):
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True).stdout.strip()
    environment = {**os.environ, "LD_PRELOAD": str(Path(runtime).resolve()), "ASAN_OPTIONS": "detect_leaks=0"}
    as_without([str(built("plain")), "7"], env=environment)
    as_without([str(built("asan")), "7"], env=environment)


OPENS = r"""
#include <dlfcn.h>
int main(int count, char** words) {
    void* part = dlopen(words[1], RTLD_NOW | RTLD_DEEPBIND);
    if (!part) return 1;
    int (*work)(int, char**) = (int (*)(int, char**))dlsym(part, "main");
    return work(count - 1, words + 1);
}
"""


@pytest.mark.parametrize("options", [[], ["--timeout", "60", "--on-hang", "kill"]])
def test_a_part_that_is_opened_with_names_of_its_own_is_as_without(built, options):
    part = built("plain", THREADS, "-shared", "-fPIC")
    code, printed, _ = as_without([str(built("plain", OPENS, "-ldl")), str(part)], *options)
    assert (code, printed) == (3, "0 arguments\n")


def for_another_processor() -> bytes:
    """A program for arm64 that ends with 7."""
    begin, header = 0x400000, 64 + 56
    code = bytes.fromhex("e00080d2 a80b80d2 010000d4")  # mov x0, 7; mov x8, exit; svc 0
    length = header + len(code)
    elf = b"\x7fELF\2\1\1".ljust(16, b"\0")
    elf += struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, begin + header, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    return elf + struct.pack("<IIQQQQQQ", 1, 5, 0, begin, begin, length, length, 0x10000) + code


def test_a_program_for_another_processor_is_as_without(tmp_path):
    program = tmp_path / "foreign"
    program.write_bytes(for_another_processor())
    program.chmod(0o755)
    as_without(["sh", "-c", f"{program}; echo $?"])
    if shutil.which("qemu-aarch64-static") is None:
        pytest.skip("qemu-user-static is not installed")  # the package changes what the kernel starts
    assert as_without(["qemu-aarch64-static", str(program)]) == (7, "", "")
    assert as_without(["sh", "-c", f"qemu-aarch64-static {program}"]) == (7, "", "")


def test_signals_that_python_ignores_have_their_usual_effect():
    script = "kill -PIPE $$; kill -XFSZ $$; echo survived"
    for options in ([], ["--timeout", "60", "--on-hang", "kill"]):
        assert as_without(["sh", "-c", script], *options)[1] == ""


def test_the_environment_is_the_programs_own_but_for_what_is_said():
    """Python sets the locale where it is C."""
    shown = []
    for through in (False, True):
        _, printed, _ = run(["env"], through=through, env={"PATH": os.environ["PATH"], "LC_ALL": "", "LANG": "C"})
        shown.append({line for line in printed.splitlines() if not line.startswith(("LD_PRELOAD=", "_="))})
    assert shown[0] == shown[1]

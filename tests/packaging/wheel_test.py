# SPDX-License-Identifier: Apache-2.0
"""The wheel: what it holds, and what those that are published do in an empty environment without a compiler.

Those for arm64 run under an emulator, in a Debian whose packages are unpacked and not set up."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pythons import python

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parents[2]
#: By which Python a wheel is made, and the tag that it gets.
TAGS = {"3.9": "cp39-cp39", "3.12": "cp312-abi3"}
CROSS = ("aarch64-linux-gnu-g++", "qemu-aarch64-static", "mmdebstrap")
MPIRUN = "mpirun.openmpi"
QUICK = ("--effort", "quick", "--launches", "1", "--budget", "2")
MEET = """
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t barrier;
static int came[300];
static void* work(void* unused) {
    for (int i = 0; i < 300; ++i) {
        __atomic_fetch_add(&came[i], 1, __ATOMIC_RELAXED);
        pthread_barrier_wait(&barrier);
        if (came[i] != 3) return "somebody was early";
    }
    return unused;
}
int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&barrier, 0, 3);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 3; ++i) {
        void* said;
        pthread_join(threads[i], &said);
        if (said) return puts(said);
    }
    return puts("met 300 times") < 0;
}
"""
REFUSED = """
#include <iostream>
#include <stdexcept>
#include <tollbar/algorithms.hpp>
int main() {
    std::cout << tollbar::make_plan("dissemination", 4).ranks() << " words; ";
    try {
        tollbar::make_plan("nonsense", 4);
    } catch (const std::invalid_argument& error) {
        std::cout << "refused: " << error.what() << '\\n';
    }
}
"""
PROGRAM = """
#include <mpi.h>
int main(int count, char** words) {
    MPI_Init(&count, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def wheel(run, tmp_path_factory) -> Path:
    """The wheel that `pip install .` makes of this checkout; build/wheel keeps what was compiled for the next time."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    settings = f"--config-settings=build-dir={ROOT / 'build' / 'wheel'}"
    # By the name that the release build has for the compiler, so that ccache knows what it compiles.
    run(*pip, "-q", "-w", folder, settings, ROOT, CC="cc", CXX="c++")
    (made,) = folder.glob("tollbar-*.whl")
    return made


@pytest.fixture(scope="module")
def names(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def unpacked(run, wheel, tmp_path_factory):
    """The wheel installed where nothing of the checkout is seen first."""
    target = tmp_path_factory.mktemp("site")
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel)
    return target


def test_the_wheel_holds_the_library_in_both_forms_and_what_finds_it(names):
    wanted = {"cmake/tollbar/tollbarConfig.cmake"}
    for library in ("tollbar", "tollbar-models"):
        wanted |= {f"lib{library}.so", f"lib{library}.a", f"pkgconfig/{library}.pc"}
    assert {f"tollbar/lib/{name}" for name in wanted} <= names


def test_the_wheel_holds_every_public_header(names):
    for folder in (ROOT / name for name in ("include", "lab/include", "bench/engine/workload")):
        headers = {f"tollbar/include/{path.relative_to(folder)}" for path in folder.rglob("*.h*")}
        assert headers <= names


def test_the_wheel_holds_every_file_of_both_packages_and_one_native_module_each(names):
    for sources in (ROOT / "python" / "tollbar", ROOT / "lab" / "python" / "tollbar_lab"):
        kept = [path for path in sources.rglob("*") if path.suffix in {".py", ".pyi", ".typed", ".j2", ".xml", ".toml"}]
        assert {path.relative_to(sources.parent).as_posix() for path in kept} <= names
        assert len([name for name in names if re.fullmatch(rf"{sources.name}/_native\..*so", name)]) == 1
        assert f"{sources.name}/_native.pyi" in names


def test_the_wheel_holds_the_measuring_and_simulating_programs(names):
    programs = [*ROOT.glob("build/release/bin/tollbar-bench-*"), *ROOT.glob("build/release/bin/tollbar-simulate-*")]
    built = {path.name for path in programs if not path.name.endswith("-test")}
    assert "tollbar-bench-threads" in built
    assert {f"tollbar/libexec/{name}" for name in built} <= names


def test_the_wheel_holds_nothing_else(names):
    places = (
        r"tollbar/.*",
        r"tollbar_lab/.*",
        r"tollbar-[\d.]+\.dist-info/.*",
        r"tollbar-[\d.]+\.data/scripts/tollbar",
        r"tollbar-[\d.]+\.data/data/share/modulefiles/tollbar/[\d.]+",
    )
    assert [name for name in names if not any(re.fullmatch(place, name) for place in places)] == []


def test_the_installed_command_runs_and_finds_its_programs(run, unpacked):
    plans = run(unpacked / "bin" / "tollbar", "plans", "--format", "csv", PYTHONPATH=str(unpacked))
    assert "dissemination" in plans
    asked = "import tollbar.machine.paths as p; print(p.program('tollbar-bench-threads'))"
    program = run(sys.executable, "-c", asked, PYTHONPATH=str(unpacked)).strip()
    assert program == str(unpacked / "tollbar" / "libexec" / "tollbar-bench-threads")
    assert run(program, "--list")


def needs(machine: str) -> None:
    lacking = [tool for tool in CROSS if not shutil.which(tool)] if machine == "aarch64" else []
    if lacking:
        pytest.skip(f"{', '.join(lacking)} cannot be found; run scripts/packages tools")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("version", TAGS)
def test_a_wheel_is_named_by_its_interface_its_glibc_and_its_processor(wheel_for, version, machine):
    needs(machine)
    wheel = wheel_for(version, machine)
    assert re.fullmatch(rf"tollbar-[\d.]+-{TAGS[version]}-manylinux_2_28_{machine}\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    natives = [name for name in names if "/_native" in name]
    kind = "abi3" if version == "3.12" else f"cpython-39-{machine}-linux-gnu"
    packages = ("tollbar", "tollbar_lab")
    assert sorted(natives) == sorted(
        f"{package}/_native.{what}" for package in packages for what in ("pyi", f"{kind}.so")
    )
    doors = ("mpi_openmpi", "mpi_mpich", "mpi_abi", "openmp", "pthread")
    wanted = {f"tollbar/lib/libtollbar_{door}.so" for door in doors} | {"tollbar/libexec/tollbar-look"}
    wanted |= {f"tollbar/libexec/licences/{text}" for text in ("NOTICE", "LGPL-3", "GPL-3")}
    assert wanted <= set(names)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_auditwheel_finds_nothing_newer_than_glibc_2_28(run, wheel_for, machine, tmp_path):
    """The verdict is about the wheel alone: a measuring program's libgomp is not of it, and newer here."""
    needs(machine)
    wheel = wheel_for("3.9", machine)  # made first: it installs auditwheel
    auditwheel = ROOT / "build" / "packages" / "audit" / "bin" / "auditwheel"
    said = " ".join(run(auditwheel, "show", "--ldpaths", tmp_path, wheel).split())
    (glibc,) = re.findall(rf'This constrains the platform tag to "manylinux_2_(\d+)_{machine}"', said)
    assert int(glibc) <= 28


def test_a_cpp_program_of_another_gcc_library_catches_what_the_library_of_a_wheel_throws(run, wheel_for, tmp_path):
    with zipfile.ZipFile(wheel_for("3.9", "x86_64")) as archive:
        archive.extractall(tmp_path)
    (tmp_path / "refused.cpp").write_text(REFUSED)
    files = (tmp_path / "refused.cpp", "-o", tmp_path / "refused", f"-I{tmp_path}/tollbar/include")
    library = tmp_path / "tollbar" / "lib"
    run("c++", "-std=c++20", *files, f"-L{library}", f"-Wl,-rpath,{library}", "-ltollbar", "-pthread")
    assert run(tmp_path / "refused").startswith("4 words; refused: ")


def test_where_glibc_is_older_pip_refuses_a_wheel_in_one_line(wheel_for, tmp_path):
    wheel = wheel_for("3.12", "x86_64")
    there = ("--platform", "manylinux_2_17_x86_64", "--python-version", "3.12", "--only-binary=:all:")
    pip = (sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", "--no-deps")
    done = subprocess.run([*pip, *there, "--target", tmp_path / "site", wheel], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"ERROR: {wheel.name} is not a supported wheel on this platform.\n"
    assert not (tmp_path / "site").exists()


@pytest.fixture(
    scope="module", params=[("3.9", "3.9"), ("3.12", "3.12"), ("3.12", "3.13")], ids="{0[0]} on {0[1]}".format
)
def command(run, wheel_for, request, tmp_path_factory):
    """command(words): what they print in a virtual environment with a wheel, whose folder alone is in the path."""
    maker, user = request.param
    folder = tmp_path_factory.mktemp("empty")
    run(python(user), "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "-q", "--only-binary=:all:", f"{wheel_for(maker, 'x86_64')}[bench]")
    if shutil.which(MPIRUN):
        (folder / "bin" / "mpirun").write_text(f'#!/bin/sh\nPATH=$PATH:/usr/bin:/bin exec {MPIRUN} "$@"\n')
        (folder / "bin" / "mpirun").chmod(0o755)
    alone = {"PATH": str(folder / "bin"), "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    return lambda *words, **changed: run(folder / "bin" / words[0], *words[1:], **alone, **changed)


def test_it_is_imported_and_proves_plans(command):
    assert command("python", "-c", "import tollbar; print(tollbar.Barrier(1).wait())") == "0\n"
    assert "yes" in command("tollbar", "verify", "mcs", "turnstile", "--ranks", "1..16")


def test_it_measures_threads(command, tmp_path):
    measured = command("tollbar", "bench", "threads", *QUICK, "-o", tmp_path, "--format", "csv")
    assert "turnstile" in measured
    assert "pthread" in measured


def test_it_runs_a_program_of_open_mpi(run, command, tmp_path):
    if not shutil.which(MPIRUN) or not shutil.which("mpicc.openmpi"):
        pytest.skip("Open MPI is not installed")
    (tmp_path / "meet.c").write_text(PROGRAM)
    run("mpicc.openmpi", tmp_path / "meet.c", "-o", tmp_path / "meet")
    ranks = ("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", tmp_path / "meet")
    said = command(sys.executable, "-c", BOTH, "tollbar", "run", "--", *ranks, TOLLBAR_VERBOSE="1")
    assert "tollbar: MPI_COMM_WORLD (2 ranks): " in said


#: Runs a command with its errors among what it prints.
BOTH = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], stderr=subprocess.STDOUT).returncode)"


class Emulated:
    """An arm64 Debian under an emulator, and where its Python has a wheel."""

    def __init__(self, run, root: Path, python: str):
        self.run, self.root, self.python, self.site = run, root, root / "usr" / "bin" / python, root / "site"

    def __call__(self, program: Path, *words: str | Path, **variables: str | Path) -> str:
        changed = {"PYTHONPATH": self.site, **variables}
        set_there = [word for name, value in changed.items() for word in ("-E", f"{name}={value}")]
        return self.run("qemu-aarch64-static", "-L", self.root, *set_there, program, *map(str, words))

    def tollbar(self, *words: str) -> str:
        return self(self.python, self.site / "bin" / "tollbar", *words)


@pytest.fixture(
    scope="module",
    params=[("3.9", "bullseye", "3.9"), ("3.12", "trixie", "3.13"), ("3.12", "forky", "3.14")],
    ids="{0[0]} on {0[1]}".format,
)
def emulated(run, wheel_for, archive, request, tmp_path_factory) -> Emulated:
    needs("aarch64")
    maker, suite, user = request.param
    wheel = wheel_for(maker, "aarch64")
    root = tmp_path_factory.mktemp(suite) / "root"
    unpack = ("mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64")
    old = '--aptopt=Acquire::Check-Valid-Until "false"'  # an archive's copy of a suite may be weeks old
    run(*unpack, old, f"--include=python{user},libstdc++6", suite, root, archive)
    if not (root / "lib").exists():
        (root / "lib").symlink_to("usr/lib")
    there = Emulated(run, root, f"python{user}")
    chosen = ("--platform", wheel.stem.split("-")[-1], "--python-version", user, "--only-binary=:all:")
    older = ("tomli",) if user == "3.9" else ()  # pip asks its own Python which dependencies there are
    run(sys.executable, "-m", "pip", "install", "-q", "--target", there.site, *chosen, wheel, *older)
    return there


def test_on_arm64_it_is_imported_and_threads_meet(emulated):
    meet = """if True:
        import platform, threading, tollbar
        barrier, came = tollbar.Barrier(3), []
        def rank(number):
            for episode in range(100):
                came.append(episode)
                barrier.wait()
                assert came.count(episode) == 3
                barrier.wait()
        threads = [threading.Thread(target=rank, args=[number]) for number in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(platform.machine(), len(came))"""
    assert emulated(emulated.python, "-c", meet) == "aarch64 300\n"


def test_on_arm64_it_proves_draws_and_prices_plans(emulated):
    assert "yes" in emulated.tollbar("verify", "mcs", "turnstile", "--ranks", "1..16")
    assert "0: !1 ?3 !2 ?2" in emulated.tollbar("show", "dissemination", "--ranks", "4")
    price = ("price", "dissemination", "--ranks", "8", "--logp", "10,5,3", "--format", "csv")
    here = subprocess.run([ROOT / ".venv" / "bin" / "tollbar", *price], capture_output=True, text=True, check=True)
    assert emulated.tollbar(*price) == here.stdout


def test_on_arm64_what_looks_at_processes_reads_the_threads_of_one(emulated):
    """Frames it cannot show here: the kernel tells of the emulator's registers, and of its files."""
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            said = emulated(emulated.site / "tollbar" / "libexec" / "tollbar-look", str(sleeper.pid))
        finally:
            sleeper.kill()
    assert '"name":"sleep"' in said.replace(" ", "")


@pytest.mark.parametrize("door", ["mpi_openmpi", "mpi_mpich", "mpi_abi", "openmp", "pthread"])
def test_on_arm64_a_program_starts_with_each_preload(emulated, door):
    library = emulated.site / "tollbar" / "lib" / f"libtollbar_{door}.so"
    asked = f"print(any({library.name!r} in line for line in open('/proc/self/maps')))"
    assert emulated(emulated.python, "-c", asked, LD_PRELOAD=library) == "True\n"


def test_on_arm64_threads_meet_at_a_barrier_of_the_preload(run, emulated, tmp_path):
    (tmp_path / "meet.c").write_text(MEET)
    compiler = ROOT / "build" / "packages" / "old-aarch64" / "compilers" / "gcc"
    run(compiler, "-pthread", tmp_path / "meet.c", "-o", tmp_path / "meet")
    library = emulated.site / "tollbar" / "lib" / "libtollbar_pthread.so"
    assert emulated(tmp_path / "meet", LD_PRELOAD=library) == "met 300 times\n"


def test_on_arm64_its_programs_measure_threads(emulated):
    program = emulated.site / "tollbar" / "libexec" / "tollbar-bench-threads"
    measured = emulated(program, "--ranks", "2", "--quick", "--batch-us", "500", "--only", "dissemination")
    assert '"dissemination' in measured

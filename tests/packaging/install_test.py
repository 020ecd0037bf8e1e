# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` makes can be built against from outside the tree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from needs import left_out

pytestmark = pytest.mark.deep

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = [ROOT / folder / "tollbar" for folder in ("include", "lab/include", "bench/engine/workload")]
BUILD = ROOT / "build" / "release"
CONSUMER = Path(__file__).resolve().parent / "consumer"
#: Of headers that include a foreign one: its compilers.
COMPILERS = {"mpi": ("mpicxx.openmpi", "mpicxx.mpich"), "shmem": ("oshcxx",)}
MET = "proven 1, phases 100\n"
PREDICTED = "met 3 times, NICs are faster\n"


def test_a_program_builds_and_runs_by_find_package(run, prefix, tmp_path):
    run("cmake", "-S", CONSUMER, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer") == MET
    assert run(tmp_path / "consumer-static") == MET
    assert run(tmp_path / "consumer-c") == "closed, open\n"
    for program in ("consumer-models", "consumer-models-static"):
        assert run(tmp_path / program) == PREDICTED


def test_a_program_that_runs_barriers_needs_no_model(run, prefix, tmp_path):
    """The library, its headers and its description are what is installed without the models' component."""
    partial = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", partial, "--component", "Unspecified")
    assert [path for path in partial.rglob("*models*") if "site-packages" not in path.parts] == []
    for source, found in (("consumer.cpp", True), ("models.cpp", False)):
        program = tmp_path / source.removesuffix(".cpp")
        (library,) = partial.rglob("libtollbar.so")
        words = ("c++", "-std=c++20", "-I", partial / "include", CONSUMER / source, "-L", library.parent, "-ltollbar")
        done = subprocess.run([*words, "-o", program], capture_output=True, text=True)
        assert (done.returncode == 0) == found, done.stderr


def test_the_library_has_at_most_400_kb_without_symbols(run, prefix, tmp_path):
    (library,) = prefix.rglob("libtollbar.so")
    run("strip", "-o", tmp_path / "stripped", library)
    assert (tmp_path / "stripped").stat().st_size <= 400_000


@pytest.mark.needs(shutil.which("pkg-config"), "pkg-config is not installed")
def test_a_program_builds_and_runs_by_pkg_config(run, prefix, tmp_path):
    (description,) = prefix.rglob("tollbar.pc")
    libraries = {"LD_LIBRARY_PATH": str(description.parent.parent)}
    for compiler, source, package, says in (
        (("c++", "-std=c++20"), "consumer.cpp", "tollbar", MET),
        (("cc", "-std=c11"), "consumer.c", "tollbar", "closed, open\n"),
        (("c++", "-std=c++20"), "models.cpp", "tollbar-models", PREDICTED),
    ):
        words = ("pkg-config", "--cflags", "--libs", package)
        flags = run(*words, PKG_CONFIG_PATH=str(description.parent)).split()
        program = tmp_path / source.replace(".", "-")
        run(*compiler, CONSUMER / source, *flags, "-o", program)
        assert run(program, **libraries) == says


EXAMPLES = ROOT / "examples"
THREADS = (EXAMPLES / "hybrid.c", "3 threads in each of 2 ranks have met 1000 times, 0 early\n")
PES = (EXAMPLES / "halo.c", "100 steps on 2 PEs: ")
OPEN_MPI = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")


@pytest.mark.parametrize(
    ("export", "compiler", "launch", "program"),
    [
        ("mpi_openmpi", "mpicc.openmpi", ("mpirun.openmpi", *OPEN_MPI), THREADS),
        ("mpi_mpich", "mpicc.mpich", ("mpiexec.mpich",), THREADS),
        ("shmem", "oshcc", ("oshrun", *OPEN_MPI), PES),
    ],
)
def test_a_program_of_an_mpi_or_openshmem_builds_and_runs(run, prefix, tmp_path, export, compiler, launch, program):
    """By a component of find_package, which names the family (mpi: all of them), and by pkg-config."""
    source, says = program
    if shutil.which(compiler) is None or not list(prefix.rglob(f"libtollbar_{export}.so")):
        left_out(f"{compiler} is not installed")
    (description,) = prefix.rglob(f"tollbar-{export.replace('_', '-')}.pc")
    settings = (f"-DEXPORT={export}", f"-DSOURCE={source}", f"-DCOMPONENT={export.partition('_')[0]}")
    folder = Path(__file__).resolve().parent / "foreign"
    build = ("cmake", "-S", folder, "-B", tmp_path, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}", *settings)
    run(*build, f"-DCMAKE_C_COMPILER={shutil.which(compiler)}")
    run("cmake", "--build", tmp_path)
    assert says in run(*launch, "-n", "2", tmp_path / "foreign")

    if shutil.which("pkg-config") is None:
        return
    words = ("pkg-config", "--cflags", "--libs", description.stem)
    flags = run(*words, PKG_CONFIG_PATH=str(description.parent)).split()
    run(compiler, "-fopenmp", source, *flags, "-o", tmp_path / "described")
    libraries = {"LD_LIBRARY_PATH": str(description.parent.parent)}
    assert says in run(*launch, "-n", "2", tmp_path / "described", **libraries)


def test_every_public_header_is_installed_and_stands_alone(run, prefix):
    folder = prefix / "include" / "tollbar"
    installed = sorted(path.relative_to(folder) for path in folder.rglob("*.h*"))
    assert installed == sorted(path.relative_to(public) for public in FOLDERS for path in public.rglob("*.h*"))
    for name in installed:
        header = folder / name
        language = ("c", "-std=c11") if header.suffix == ".h" else ("c++", "-std=c++20")
        for compiler in filter(shutil.which, COMPILERS.get(header.stem, ("c++",))):
            run(compiler, "-fsyntax-only", "-w", "-I", prefix / "include", "-x", *language, header)


def test_no_installed_text_names_the_build(prefix):
    texts = [path for path in prefix.rglob("*") if path.suffix in {".cmake", ".pc", ".hpp", ".h"}]
    assert len(texts) > 10
    assert [str(path) for path in texts if str(ROOT) in path.read_text()] == []


def test_installations_at_the_same_time_share_no_file(tmp_path):
    """The daemon's unit holds the path of its prefix, in each of 40 installations, four at a time."""
    part = BUILD / "src" / "nicd"
    if not (part / "cmake_install.cmake").exists():
        pytest.skip("build/release has no daemon for NICs")
    for batch in range(10):
        prefixes = [tmp_path / f"{batch}-{at}" for at in range(4)]
        started = [
            subprocess.Popen(["cmake", "--install", part, "--prefix", prefix], stdout=subprocess.DEVNULL)
            for prefix in prefixes
        ]
        assert [process.wait(60) for process in started] == [0] * 4
        for prefix in prefixes:
            unit = (prefix / "lib" / "systemd" / "system" / "tollbar-nicd@.service").read_text()
            assert f"ExecStart={prefix}/libexec/tollbar/tollbar-nicd " in unit

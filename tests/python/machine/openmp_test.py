# SPDX-License-Identifier: Apache-2.0
"""How a program's threads meet is read from its file; what suits the CPUs is set, where the user has not."""

import shutil
import subprocess
from pathlib import Path

import pytest
from needs import left_out
from tollbar.machine import doors, openmp, paths
from tollbar.machine.cpus import Usable

FOUR = Usable(online=4, affinity=4, quota=None)
LIMITED = Usable(online=4, affinity=4, quota=2.5)


def test_a_program_with_a_cpu_for_each_thread_waits_for_regions_as_it_always_has():
    assert openmp.settings({}, FOUR) == {}


def test_more_threads_than_cpus_do_not_spin():
    environment = {"OMP_NUM_THREADS": "8,2"}
    assert openmp.settings(environment, FOUR) == {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}


def test_under_a_quota_there_are_as_many_threads_as_it_grants():
    wanted = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
    assert openmp.settings({}, LIMITED) == wanted


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"])
def test_a_policy_of_the_users_stays(name):
    assert openmp.settings({name: "1"}, FOUR) == {}
    assert openmp.settings({name: "1", "OMP_NUM_THREADS": "9"}, LIMITED) == {}


def test_a_limit_of_the_users_stays():
    assert "OMP_NUM_THREADS" not in openmp.settings({"OMP_THREAD_LIMIT": "3"}, LIMITED)


def test_how_threads_meet_is_read_from_the_file(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        left_out("no C compiler")
    source = tmp_path / "program.c"
    source.write_text(
        "#include <pthread.h>\nint main(int n, char** w) { (void)w;\n"
        "#pragma omp parallel\nn += 0;\n"
        "return n > 9 ? pthread_barrier_wait(0) : 0; }\n"
    )
    for flags, found in (([], ["pthread"]), (["-fopenmp"], ["libgomp", "pthread"])):
        subprocess.run([compiler, *flags, source, "-o", tmp_path / "program"], check=True)
        assert openmp.of_program(tmp_path / "program") == found
    assert openmp.of_program(source) == []
    assert openmp.of_program("no-such-program") == []


def test_a_program_that_has_its_runtime_inside_is_out_of_reach(tmp_path):
    compiler = shutil.which("gcc")
    if compiler is None:
        left_out("no gcc")
    source, part, program = tmp_path / "program.c", tmp_path / "part.o", tmp_path / "program"
    source.write_text("int main(int n, char** w) { (void)w;\n#pragma omp parallel\nn += 0;\nreturn n > 9; }\n")

    def why(*words: str | Path) -> str:
        subprocess.run([compiler, *words, "-o", program], check=True)
        return openmp.out_of_reach(program)

    assert why(source, "-fopenmp") == ""
    assert why(source, "-static") == "it is linked statically"
    subprocess.run([compiler, "-fopenmp", "-c", source, "-o", part], check=True)
    archive = subprocess.run([compiler, "-print-file-name=libgomp.a"], capture_output=True, text=True).stdout.strip()
    assert why(part, archive) == "libgomp is linked into it statically"
    assert openmp.out_of_reach(source) == openmp.out_of_reach("no-such-program") == ""


def test_a_library_that_is_no_runtime_is_refused():
    door = paths.find_library(doors.THREADS["openmp"])
    if door is None:
        left_out("libtollbar_openmp.so is not built")
    assert openmp.refusal(door, Path("libc.so.6")) == "it is no OpenMP runtime"
    assert openmp.refusal(door, Path("/nowhere/libgomp.so")) == "it cannot be loaded"


def test_a_runtime_that_ends_the_process_ends_only_the_one_that_asks_it(tmp_path, monkeypatch):
    """As LLVM's does where /dev/shm is full."""
    door, compiler = paths.find_library(doors.THREADS["openmp"]), shutil.which("gcc")
    if door is None or compiler is None:
        left_out("libtollbar_openmp.so is not built, or no gcc")
    source, runtime = tmp_path / "runtime.c", tmp_path / "runtime.so"
    source.write_text("#include <signal.h>\n__attribute__((constructor)) static void end(void) { raise(SIGBUS); }\n")
    subprocess.run([compiler, "-shared", "-fPIC", source, "-o", runtime], check=True)
    assert openmp.refusal(door, runtime) == "loading it ended in SIGBUS"

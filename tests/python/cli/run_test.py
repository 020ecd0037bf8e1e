# SPDX-License-Identifier: Apache-2.0
"""tollbar run: the right door is opened, the variables reach the ranks, the exit code is the command's."""

import os
import shutil
from pathlib import Path

import pytest
from through_run import run_tollbar
from tollbar.machine import child, cpus, doors, launching, mpis, openmp, paths, programs

FOUR = mpis.Mpi("openmpi", "4.1.4", Path("/usr/bin/mpirun"))
MPICH = mpis.Mpi("mpich", "4.0.2", Path("/usr/bin/mpiexec"))


@pytest.fixture
def here(monkeypatch, tmp_path):
    """here(component=..., FOUR, ...): launchers named as their families, all doors built."""

    def place(component=None):
        known = {"mpirun": FOUR, "mpiexec": MPICH}
        monkeypatch.setattr(mpis, "of_launcher", lambda word: known.get(Path(word).name))
        monkeypatch.setattr(mpis, "interface_of", lambda word: {"linked": "abi", "of_mpich": "mpich"}.get(str(word)))
        monkeypatch.setattr(doors, "component", lambda mpi: component)
        monkeypatch.setattr(doors, "component_path", lambda mpi, path: f"{path.parent}:/system")
        monkeypatch.setattr(doors, "preload", lambda interface: Path("/lib", doors.PRELOADS[interface]))
        monkeypatch.setattr(programs, "has_musl", lambda: False)
        monkeypatch.delenv("LD_PRELOAD", raising=False)

    return place


@pytest.fixture
def shown(tollbar):
    """shown(words...) -> the one row of a dry run."""

    def dry_run(*words):
        said = tollbar("run", "--dry-run", "--format", "json", *words)
        assert said.code == 0, said.err
        return said.json[0]

    return dry_run


def test_the_component_is_taken_where_this_open_mpi_loads_it(here, shown):
    here(component=Path("/lib/mca_coll_tollbar.so"))
    row = shown("--", "mpirun", "-n", "4", "./program")
    assert (row["mpi"], row["door"]) == ("openmpi", "component")
    assert row["command"] == (
        "mpirun -x OMPI_MCA_mca_base_component_path=/lib:/system -n 4 ./program"  # remote ranks get it too
    )


def test_without_a_component_the_library_is_preloaded(here, shown):
    here()
    row = shown("--", "mpirun", "-n", "4", "./program")
    assert row["command"] == "mpirun -x LD_PRELOAD=/lib/libtollbar_mpi_openmpi.so -n 4 ./program"


def test_hydra_gives_the_variables_to_all_ranks(here, shown):
    here()
    row = shown("--timeout", "2.5", "--", "mpiexec", "-n", "4", "./program")
    assert row["command"] == (
        "mpiexec -genv LD_PRELOAD /lib/libtollbar_mpi_mpich.so -genv TOLLBAR_TIMEOUT 2.5 -n 4 ./program"
    )


def test_a_time_out_has_the_calls_watched_beside_the_component(here, shown, monkeypatch):
    here(component=Path("/lib/mca_coll_tollbar.so"))
    row = shown("--timeout", "5", "--", "mpirun", "-n", "4", "./program")
    assert row["library"] == "/lib/libtollbar_mpi_openmpi.so:/lib/mca_coll_tollbar.so"
    assert "-x LD_PRELOAD=/lib/libtollbar_mpi_openmpi.so " in row["command"]
    monkeypatch.setenv("TOLLBAR_TIMEOUT", "0")
    assert "libtollbar_mpi_" not in shown("--", "mpirun", "-n", "4", "./program")["command"]
    monkeypatch.setenv("TOLLBAR_TIMEOUT", "3")
    assert "libtollbar_mpi_openmpi" in shown("--", "mpirun", "-n", "4", "./program")["command"]


def test_a_library_that_does_not_watch_yet_is_said(here, tollbar, monkeypatch):
    here(component=Path("/lib/mca_coll_tollbar.so"))
    monkeypatch.setattr(doors, "preload", lambda interface: None)
    said = tollbar("run", "--dry-run", "--timeout", "5", "--", "mpirun", "-n", "4", "./program")
    assert "libtollbar_mpi_openmpi.so is not built: only barriers are watched" in said.err


def test_what_the_program_is_linked_with_counts_more_than_the_launcher(here, shown):
    here()
    row = shown("--", "mpiexec", "-n", "4", "linked", "argument")
    assert (row["mpi"], row["library"]) == ("abi", "/lib/libtollbar_mpi_abi.so")


def test_under_slurm_the_environment_is_what_ranks_get(here, shown):
    here()
    row = shown("--timeout", "5", "srun", "-n", "4", "linked")
    assert row["command"] == ("LD_PRELOAD=/lib/libtollbar_mpi_abi.so TOLLBAR_TIMEOUT=5 srun -n 4 linked")


def test_a_program_that_is_no_mpis_needs_to_be_told(here, shown, tollbar, monkeypatch):
    here()
    monkeypatch.setattr(shutil, "which", lambda word: f"/bin/{word}")
    said = tollbar("run", "--", "srun", "python3", "program.py")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "--door openmpi|mpich|abi" in said.err
    row = shown("--door", "mpich", "--", "srun", "python3", "program.py")
    assert row["library"] == "/lib/libtollbar_mpi_mpich.so"


@pytest.fixture
def threads(here, monkeypatch):
    """Programs of threads: all doors are built, and there are four CPUs."""
    here()
    linked = {"gnu": ["libgomp"], "llvm": ["libomp"], "posix": ["pthread"]}
    monkeypatch.setattr(openmp, "of_program", lambda word: linked.get(word, []))
    monkeypatch.setattr(openmp, "out_of_reach", lambda word: "it is linked statically" if word == "static" else "")
    monkeypatch.setattr(shutil, "which", lambda word: f"/bin/{word}")
    monkeypatch.setattr(paths, "find_library", lambda name: Path("/lib", name))
    monkeypatch.setattr(cpus, "usable", lambda: cpus.Usable(4, 4, None))
    for name in ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "OMP_THREAD_LIMIT"):
        monkeypatch.delenv(name, raising=False)


def test_a_program_of_threads_gets_the_door_of_what_it_is_linked_with(threads, shown):
    for program in ("gnu", "llvm"):
        row = shown("--", program, "argument")
        assert (row["mpi"], row["library"]) == ("threads", "/lib/libtollbar_openmp.so")
        assert row["command"] == f"LD_PRELOAD=/lib/libtollbar_openmp.so {program} argument"
    row = shown("--timeout", "5", "--", "nice", "posix")
    assert row["command"] == "LD_PRELOAD=/lib/libtollbar_pthread.so TOLLBAR_TIMEOUT=5 nice posix"


def test_a_program_that_loads_its_libraries_later_gets_all_doors_for_threads(threads, shown):
    row = shown("--", "python3", "program.py")
    assert row["library"] == "/lib/libtollbar_pthread.so:/lib/libtollbar_openmp.so"
    assert shown("--door", "openmp", "--", "python3")["library"] == "/lib/libtollbar_openmp.so"


def test_a_door_for_threads_that_is_not_built_says_how_to_get_it(threads, tollbar, monkeypatch):
    monkeypatch.setattr(paths, "find_library", lambda name: None)
    said = tollbar("run", "--", "posix")
    assert (said.code, said.err) == (2, f"tollbar run: libtollbar_pthread.so is not built; remedy: {paths.mend()}\n")


def test_a_program_that_no_preload_reaches_is_named_where_that_is_asked_for(threads, tollbar, monkeypatch):
    assert tollbar("run", "--dry-run", "--", "nice", "static").err == ""
    monkeypatch.setenv("TOLLBAR_VERBOSE", "1")
    said = tollbar("run", "--dry-run", "--", "nice", "static")
    assert said.code == 0
    assert said.err.startswith("tollbar run: static keeps its own barriers: it is linked statically\n")


def test_what_is_set_is_told_where_it_is_asked_for(threads, tollbar, monkeypatch):
    monkeypatch.setenv("TOLLBAR_VERBOSE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    said = tollbar("run", "--dry-run", "--", "gnu")
    line = "tollbar run: LD_PRELOAD=/lib/libtollbar_openmp.so OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0\n"
    assert (said.code, said.err) == (0, line)


def test_a_program_of_another_mpi_than_its_launcher_is_refused_unless_the_mpi_is_named(here, shown, tollbar):
    here()
    words = ("--", "mpirun", "-n", "2", "of_mpich")
    said = tollbar("run", *words)
    assert "of_mpich is linked with mpich, and mpirun starts ranks of Open MPI 4.1.4" in said.refusal
    assert shown("--door", "mpich", *words)["library"].endswith("libtollbar_mpi_mpich.so")


def test_a_launcher_may_stand_behind_other_words(here, shown):
    here()
    row = shown("--", "timeout", "60", "mpirun", "-n", "2", "./program")
    assert row["command"].startswith("timeout 60 mpirun -x LD_PRELOAD=")


def test_the_variables_of_tollbar_reach_other_hosts(here, shown, monkeypatch, tollbar):
    here()
    monkeypatch.setenv("TOLLBAR_PLAN", "mcs")
    assert " -x TOLLBAR_PLAN=mcs " in shown("--", "mpirun", "./program")["command"]


def test_what_else_is_preloaded_stays_in_front_of_doors_for_threads_and_a_sanitizer_of_all(threads, shown, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/lib/other.so /lib/libasan.so.8")
    ours = "/lib/libtollbar_mpi_openmpi.so"
    assert f"LD_PRELOAD=/lib/libasan.so.8:{ours}:/lib/other.so " in shown("--", "mpirun", "./program")["command"]
    command = shown("--", "posix")["command"]
    assert command == "LD_PRELOAD=/lib/other.so:/lib/libasan.so.8:/lib/libtollbar_pthread.so posix"


def test_a_door_that_is_not_built_says_how_to_get_it(here, tollbar, monkeypatch):
    here()
    monkeypatch.setattr(doors, "preload", lambda interface: None)
    said = tollbar("run", "--", "mpiexec", "./program")
    assert (said.code, said.err) == (2, f"tollbar run: libtollbar_mpi_mpich.so is not built; remedy: {paths.mend()}\n")


def test_a_component_that_is_asked_for_is_not_replaced_in_silence(here, tollbar):
    here()
    said = tollbar("run", "--door", "component", "--", "mpirun", "./program")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "no mca_coll_tollbar.so for Open MPI 4.1.4" in said.err


def test_the_arguments_of_a_program_are_its_own(threads, shown):
    words = ["python3", "train.py", "--launcher", "mpirun", "-n", "4"]
    command = shown("--", *words)["command"]
    assert command.partition(" ")[2] == " ".join(words)


def test_a_library_has_a_path_that_programs_of_musl_do_not_find(threads, shown, monkeypatch):
    monkeypatch.setattr(programs, "has_musl", lambda: True)
    assert shown("--", "posix")["command"] == "'LD_PRELOAD=/$LIB/../../../lib/libtollbar_pthread.so' posix"


def test_what_has_no_program_is_said_before_anything_runs(tollbar, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    for word, why in (
        (script, f"{script} cannot be run: no permission (chmod +x {script})"),
        (tmp_path, "is a folder"),
    ):
        for options in ([], ["--timeout", "1", "--on-hang", "kill"]):
            said = tollbar("run", *options, "--", str(word))
            assert said.code == 2
            assert why in said.refusal


@pytest.mark.parametrize("door", [[], ["--door", "preload"]])
def test_barriers_of_a_real_program_are_tollbars(real, door):
    launcher, program = real
    done = run_tollbar(*door, "--", *launcher, program, TOLLBAR_VERBOSE="1", TOLLBAR_PLAN="mcs")
    assert (done.returncode, done.stdout) == (0, "1 arguments\n"), done.stderr
    assert "tollbar: MPI_COMM_WORLD (3 ranks): mcs\n" in done.stderr


def test_all_programs_of_a_job_get_the_door(real):
    launcher, program = real
    words = [*launcher[:-1], 1, program, ":", "-n", 2, "env", "A=1", program]
    done = run_tollbar("--door", "preload", "--", *words, TOLLBAR_VERBOSE="1", TOLLBAR_PLAN="mcs")
    assert done.returncode == 0, done.stderr
    assert "tollbar: MPI_COMM_WORLD (3 ranks): mcs\n" in done.stderr


def test_the_exit_code_is_that_of_the_command(real):
    launcher, program = real
    assert run_tollbar("--", *launcher, program, "argument").returncode == 7


def test_a_report_is_of_ranks_alone(threads, tollbar):
    said = tollbar("run", "--report", "waits.json", "--", "posix")
    assert said.code == 2
    assert "--report is about the ranks of an MPI" in said.refusal


def test_what_open_mpi_will_refuse_is_told_before_it_is_started(here, tollbar, monkeypatch):
    here()
    started = []
    monkeypatch.setattr(child, "execute", lambda *words: started.append(words[0]) or exec_is_over())
    for name in [name for name in os.environ if name.startswith(("OMPI_", "PRTE_", "SLURM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    said = tollbar("run", "--", "mpirun", "-n", "4", "./program")
    assert (said.code, said.err.count("\n"), started) == (2, 1, [])
    assert "add --allow-run-as-root" in said.err

    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(launching, "usable_cores", lambda: 2)
    said = tollbar("run", "--", "mpirun", "-n", "4", "./program")
    assert "add --oversubscribe" in said.err
    assert len(started) == 1  # it may know of more slots


def exec_is_over():
    raise OSError(0, "stopped by the test")


def test_a_command_that_is_not_there_is_one_line():
    done = run_tollbar("--door", "mpich", "--", "no-such-command")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_report_that_cannot_be_written_is_refused_before_the_job_starts(here, tollbar, tmp_path, monkeypatch):
    here()
    monkeypatch.setattr(child, "execute", lambda *_: pytest.fail("it has started"))
    for file in (tmp_path / "none" / "waits.html", tmp_path):
        said = tollbar("run", "--report", str(file), "--", "mpirun", "-n", "2", "./program")
        assert said.code == 2
        assert f"cannot write {file}: " in said.refusal
    assert list(tmp_path.iterdir()) == []

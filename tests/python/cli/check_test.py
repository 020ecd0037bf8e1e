# SPDX-License-Identifier: Apache-2.0
"""tollbar check: what is a barrier passes it, what is none does not, whoever made it."""

import shutil
import subprocess
from pathlib import Path

import pytest
from needs import left_out
from tollbar.campaigns import checks

SUPPORT = Path(__file__).parents[2] / "support"
MPI = Path(__file__).parents[2] / "mpi"


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """broken("NOTHING"): a library whose barrier has that fault; "" is right."""
    folder = tmp_path_factory.mktemp("broken")

    def build(fault: str) -> Path:
        library = folder / f"{fault or 'right'}.so"
        define = [f"-D{fault}"] if fault else []
        words = ["cc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", *define]
        words += [SUPPORT / "broken.c", "-o", library]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return library

    return build


def test_a_barrier_that_does_nothing_is_named_with_the_episode_and_two_ranks(tollbar, broken):
    said = tollbar("check", "threads", broken("NOTHING"), "--ranks", 3, "--json")
    assert said.code == 1
    (row,) = said.json
    assert (row["barrier"], row["holds"], row["seconds"]) == ("loaded", False, None)
    episode, left = row["fault"].split(": ")
    assert (episode, row["episodes"]) == ("episode 1", 0)
    assert left in {f"rank {early} left before rank {late} had arrived" for early in "012" for late in "012"}


def test_the_line_on_stderr_says_the_same(tollbar, broken):
    said = tollbar("check", "threads", broken("NOTHING"), "--ranks", 3)
    assert said.code == 1
    assert said.err.startswith("loaded with 3 ranks is no barrier: episode 1: rank ")


def test_a_barrier_that_is_one_round_short_is_found_out(tollbar, broken):
    said = tollbar("check", "threads", broken("ROUND_SHORT"), "--json")
    assert said.code == 1
    assert "left before" in said.json[0]["fault"]


def test_ranks_that_a_late_reset_has_locked_in_are_named(tollbar, broken, monkeypatch):
    monkeypatch.setenv("TOLLBAR_TIMEOUT", "0.5")
    said = tollbar("check", "threads", broken("RESET_LATE"), "--json")
    assert said.code == 1
    fault = said.json[0]["fault"]
    assert "nobody has arrived or left for 0.5 s; all ranks have arrived, and rank" in fault
    assert fault.endswith("cannot leave")


def test_the_same_barrier_passes_when_it_is_right(tollbar, broken):
    said = tollbar("check", "threads", broken(""), "--episodes", 500, "--json")
    assert (said.code, said.err) == (0, "")
    (row,) = said.json
    assert (row["holds"], row["episodes"], row["late"], row["fault"]) == (True, 1000, 500, None)


def test_every_plan_and_what_users_have_today_passes_between_threads(tollbar):
    said = tollbar("check", "threads", "--ranks", "2,5", "--episodes", 200, "--json")
    assert said.code == 0, said.err
    found = {row["barrier"] for row in said.json}
    assert found >= {"std::barrier", "pthread_barrier", "tollbar::barrier", *checks._PLANS}
    assert {row["ranks"] for row in said.json} == {2, 5}
    assert all(row["holds"] for row in said.json)


def test_any_plan_can_be_named(tollbar):
    said = tollbar("check", "threads", "mcs:3,2", "std::barrier", "--episodes", 50, "--json")
    assert said.code == 0
    assert {row["barrier"] for row in said.json} == {"mcs:3,2", "std::barrier"}


def test_processes_pass_too(tollbar):
    said = tollbar("check", "processes", "--ranks", 3, "--episodes", 100, "--json")
    assert said.code == 0, said.err
    assert {row["barrier"] for row in said.json} == {"pthread_barrier", *checks._PLANS}


def test_every_plan_that_messages_can_run_passes_by_datagrams(tollbar):
    said = tollbar("check", "udp", "--ranks", "2,5", "--episodes", 50, "--json")
    assert said.code == 0, said.err
    assert {row["barrier"] for row in said.json} == set(checks._MESSAGES)


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            left_out(f"{program} is not installed")


@pytest.mark.deep
def test_an_mpi_passes_with_and_without_tollbar(tollbar):
    needs("mpirun.openmpi")
    said = tollbar("check", "mpi", "--mpi", "openmpi", "--ranks", 2, "--episodes", 100, "--json")
    if "is not checked: tollbar-bench" in said.err:
        left_out(said.err)
    assert said.code == 0, said.err
    reached = {row["of"].partition(", ")[2] for row in said.json}
    assert reached >= {"", "preload"}
    assert {row["barrier"] for row in said.json} == {"MPI_Barrier", "MPI_Ibarrier"}


def test_an_mpi_whose_barrier_does_nothing_is_found_out(tollbar, tmp_path):
    needs("mpirun.openmpi", "mpicc.openmpi")
    library = tmp_path / "no_barrier.so"
    subprocess.run(["mpicc.openmpi", "-shared", "-fPIC", MPI / "no_barrier.c", "-o", library], check=True)
    said = tollbar("check", "mpi", "--mpi", "openmpi", "--ranks", 2, library, "--json")
    assert said.code == 1
    assert said.json[0]["barrier"] == "MPI_Barrier"
    assert "left before rank" in said.json[0]["fault"]


def test_threads_inside_ranks_pass(tollbar):
    needs("mpirun.openmpi")
    said = tollbar("check", "hybrid", "--mpi", "openmpi", "turnstile/mcs", "--episodes", 50, "--json")
    assert said.code == 0, said.err
    assert [(row["barrier"], row["ranks"]) for row in said.json] == [("turnstile/mcs", 4)]


def test_split_barriers_pass_in_every_way_to_signal(tollbar):
    needs("oshrun")
    said = tollbar("check", "shmem", "--ranks", 2, "--episodes", 50, "--json")
    assert said.code == 0, said.err
    assert {row["barrier"] for row in said.json} == set(checks._SHMEM)
    ways = {row["wait"] for row in said.json if row["barrier"] == "dissemination"}
    assert ways >= {"puts", "stores", "amo32", "amo64"}


def test_a_library_that_cannot_change_what_is_named_is_refused(tollbar, broken):
    said = tollbar("check", "threads", "mcs", broken(""))
    assert "a preloaded library does not change mcs; it may change pthread_barrier" in said.refusal
    two = tollbar("check", "threads", broken(""), broken("NOTHING"))
    assert "one library can be preloaded at a time" in two.refusal


def test_a_library_without_the_three_functions_is_not_said_to_hold(tollbar, tmp_path):
    library = tmp_path / "empty.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", library], check=True)
    said = tollbar("check", "threads", library, "--episodes", 10)
    assert (said.code, said.out) == (1, "")


def test_variables_that_would_steer_tollbar_do_not_reach_what_is_checked(monkeypatch):
    for name in ("TOLLBAR_WAIT", "TOLLBAR_PLAN", "LD_PRELOAD"):
        monkeypatch.setenv(name, "park")
    monkeypatch.setenv("OMPI_MCA_coll", "basic")
    script = 'test "$OMPI_MCA_coll" = basic && test -z "$TOLLBAR_WAIT$TOLLBAR_PLAN$LD_PRELOAD"'
    assert checks.launched(checks.Launch("", ["sh", "-c", script])).trouble == ""


def test_ranks_that_never_start_end_the_check(tollbar, tmp_path, monkeypatch):
    from tollbar.campaigns import checks

    program = tmp_path / "bin" / "tollbar-bench-processes"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    monkeypatch.setenv("TOLLBAR_BUILD", str(tmp_path))
    monkeypatch.setattr(checks, "_STARTING_S", 0.5)
    said = tollbar("check", "processes", "mcs")
    assert (said.code, said.out) == (1, "")
    assert said.err == "tollbar check: its ranks have not started within 0.5 s\n"

# SPDX-License-Identifier: Apache-2.0
"""Jobs of srun on several nodes, under `tollbar run`: their barriers hold, are served where all ranks have the library,
and nothing is said that the program does not say itself."""

from __future__ import annotations

import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_jobs import PAGE_BYTES, Programs, place_of
from needs import left_out
from slurm_cluster import BY_SRUN, Cluster

RUN = (sys.executable, "-m", "tollbar", "run")
#: A rank whose number fits lacks the library.
LACKS = 'case $SLURM_PROCID in {}) unset LD_PRELOAD;; esac; exec "$@"'
PASSED = "passed: 20 checks\n"
SERVED = "tollbar: MPI_COMM_WORLD (4 ranks): "


#: A keeper that never answers.
SILENT = """
import sys, time
from tollbar.machine import keeper
keeper.PATIENCE_S = keeper.MOST_S = 1e9
with keeper.Keeper() as kept:
    print(kept.value, flush=True)
    time.sleep(1000)
"""


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Programs:
    return Programs(tmp_path_factory.mktemp("mpi"))


#: Each MPI that is served: its compiler, and how srun talks to its ranks.
MPIS = {
    "openmpi": ("mpicc.openmpi", BY_SRUN["openmpi"]),
    "mpich": ("mpicc.mpich", BY_SRUN["mpich"]),
    "mpich-wheel": ("mpich/bin/mpicc", BY_SRUN["mpich"]),
}


def compiler_of(mpi: str) -> str:
    if place := place_of(MPIS[mpi][0]):
        return place
    left_out(f"{MPIS[mpi][0]} is not installed")


class Steps:
    """Steps of barriers.c, whose ranks see by a page of memory who has left a barrier early."""

    def __init__(self, cluster: Cluster, programs: Programs, mpi: str) -> None:
        self.mpi, self._cluster, self._programs = mpi, cluster, programs
        self._made = 0

    def words(self, *before: str) -> list[object]:
        """One step of four ranks on two nodes."""
        page = self._cluster.folder / f"page-{self.mpi}-{self._made}"
        self._made += 1
        with page.open("wb") as file:
            file.truncate(PAGE_BYTES)
        program = self._programs.get("slurm/barriers", compiler_of(self.mpi))
        return ["srun", MPIS[self.mpi][1], "--nodes=2", "--ntasks=4", *before, program, page]

    def run(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return self._cluster.run(*words, **variables)

    def started(self, *words: object, **variables: str) -> subprocess.Popen[str]:
        return self._cluster.started(*words, **variables)

    def until_passed(self, *words: object, **variables: str) -> str:
        """The lines of tollbar once the barriers have held: the job ends then."""
        with self._cluster.started(*words, **variables) as job:
            assert job.stdout
            assert job.stderr
            passed = job.stdout.readline()
            self._cluster.cancel_everything()
            errors = job.stderr.read()
        assert passed == PASSED, errors
        return "".join(line for line in errors.splitlines(keepends=True) if "tollbar" in line)


@pytest.fixture
def open_mpi(cluster, programs) -> Steps:
    return Steps(cluster, programs, "openmpi")


@pytest.fixture
def mpich(cluster, programs) -> Steps:
    return Steps(cluster, programs, "mpich")


def said(done: subprocess.CompletedProcess[str], programs: int = 1) -> str:
    """The lines besides those that say that the barriers of so many programs have held."""
    assert (done.returncode, done.stdout) == (0, programs * PASSED), done.stderr
    return done.stderr


def test_the_output_of_a_step_is_its_program_s_own(open_mpi):
    assert said(open_mpi.run(*RUN, "--", *open_mpi.words())) == ""


def test_a_step_whose_ranks_all_have_the_library_is_served(open_mpi):
    assert SERVED in said(open_mpi.run(*RUN, "--", *open_mpi.words(), TOLLBAR_VERBOSE="1"))


@pytest.mark.deep
def test_a_step_of_mpich_4_runs_as_stock_and_says_why_when_it_is_asked(mpich):
    assert mpich.until_passed(*RUN, "--", *mpich.words()) == ""
    verbosely = mpich.until_passed(*RUN, "--", *mpich.words(), TOLLBAR_VERBOSE="1")
    assert "tollbar: srun and this MPI leave ranks in MPI_Finalize, so " in verbosely


@pytest.mark.deep
def test_steps_of_mpich_5_are_served_and_end(cluster, programs):
    mpich = Steps(cluster, programs, "mpich-wheel")
    for _ in range(5):
        assert said(mpich.run(*RUN, "--", *mpich.words())) == ""
        assert SERVED in said(mpich.run(*RUN, "--", *mpich.words(), TOLLBAR_VERBOSE="1"))


@pytest.mark.deep
@pytest.mark.parametrize("lacking", ["[01]", "[23]", "0", "3"])
def test_a_step_some_of_whose_ranks_lack_the_library_runs_as_stock(open_mpi, lacking):
    words = open_mpi.words("sh", "-c", LACKS.format(lacking), "sh")
    errors = said(open_mpi.run(*RUN, "--door", "openmpi", "--", *words, TOLLBAR_VERBOSE="1"))
    assert SERVED not in errors
    assert ("tollbar: some rank has no libtollbar_mpi_openmpi.so" in errors) == (lacking in ("[23]", "3"))


@pytest.mark.deep
def test_steps_under_one_run_are_not_mixed(open_mpi):
    """Three at a time, of which one has the library in half of its ranks."""
    steps = [open_mpi.words(), open_mpi.words("sh", "-c", LACKS.format("[01]"), "sh"), open_mpi.words()]
    lines = " & ".join(shlex.join(map(str, step)) for step in steps)
    done = open_mpi.run(*RUN, "--door", "openmpi", "--", "sh", "-c", f"{lines} & wait", TOLLBAR_VERBOSE="1")
    assert said(done, programs=3).count(SERVED) == 2, done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("mpi", ["openmpi", "mpich-wheel"])
def test_a_run_for_each_rank_is_served_as_one_run_is(cluster, programs, mpi):
    steps = Steps(cluster, programs, mpi)
    assert said(steps.run(*steps.words(*RUN, "--"))) == ""
    assert SERVED in said(steps.run(*steps.words(*RUN, "--"), TOLLBAR_VERBOSE="1"))


@pytest.mark.deep
@pytest.mark.parametrize("lacking", ["0", "3", "[12]"])
def test_a_step_some_of_whose_ranks_have_no_run_is_stock(open_mpi, lacking):
    """A rank without one is not waited for by long, and none without a limit."""
    some = f'case $SLURM_PROCID in {lacking}) exec "$@";; esac; exec {shlex.join(RUN)} -- "$@"'
    errors = said(open_mpi.run(*open_mpi.words("sh", "-c", some, "sh"), TOLLBAR_VERBOSE="1"))
    assert SERVED not in errors
    assert ("tollbar run: rank 0 has no `tollbar run`, or none that was found" in errors) == (lacking == "0")


@pytest.mark.deep
def test_runs_of_hosts_that_share_no_folder_are_stock(open_mpi):
    apart = f'export XDG_CACHE_HOME=/dev/shm/cache; cd /dev/shm; exec {shlex.join(RUN)} -- "$@"'
    errors = said(open_mpi.run(*open_mpi.words("sh", "-c", apart, "sh"), TOLLBAR_VERBOSE="1"))
    assert SERVED not in errors


@pytest.mark.deep
def test_runs_of_two_steps_at_a_time_are_not_mixed(open_mpi):
    steps = [open_mpi.words(*RUN, "--") for _ in range(2)]
    lines = " & ".join(shlex.join(map(str, step)) for step in steps)
    done = open_mpi.run("salloc", "--quiet", "-N2", "-n8", "sh", "-c", f"{lines} & wait", TOLLBAR_VERBOSE="1")
    assert said(done, programs=2).count(SERVED) == 2, done.stderr


@pytest.mark.deep
def test_a_run_for_each_rank_under_another_run_is_served_by_that(open_mpi):
    words = open_mpi.words(*RUN, "--door", "openmpi", "--")
    assert SERVED in said(open_mpi.run(*RUN, "--door", "openmpi", "--", *words, TOLLBAR_VERBOSE="1"))


@pytest.mark.deep
def test_ranks_of_several_nodes_tell_how_long_they_have_waited(open_mpi):
    errors = said(open_mpi.run(*RUN, "--report", "-", "--", *open_mpi.words()))
    assert "MPI_COMM_WORLD" in errors
    assert "s of all ranks in waiting for others" in errors


@pytest.mark.deep
def test_a_rank_that_gets_no_answer_ends_the_job_with_one_line(open_mpi):
    with open_mpi.started(sys.executable, "-c", SILENT) as silent:
        value = silent.stdout.readline().strip()
        words = open_mpi.words("sh", "-c", LACKS.format("0"), "sh")
        done = open_mpi.run(*RUN, "--door", "openmpi", "--", *words, _TOLLBAR_KEEPER=value)
        silent.kill()
    ours = [line for line in done.stderr.splitlines() if line.startswith("tollbar: ")]
    assert done.returncode != 0
    assert done.stdout == ""
    assert {line[:15] for line in ours} <= {f"tollbar: rank {rank}" for rank in (1, 2, 3)}, done.stderr
    assert ours[0].endswith(" and does not know what the other ranks do: it ends the job")


@pytest.mark.deep
@pytest.mark.parametrize("mpi", ["openmpi", "mpich-wheel"])
def test_a_step_is_timed_with_its_barriers_served_and_without(cluster, compiled, mpi):
    """Shows both with `pytest -s`: twelve launches of each, in turn. Open MPI does as it does by default, and spins."""
    program = compiled(Path(__file__).with_name("period.c"), compiler_of(mpi), "-O2")
    step = ["srun", MPIS[mpi][1], "--nodes=2", "--ntasks=4", program]
    ways = {"stock": step, "served": [*RUN, "--", *step]}
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(12):
        for way, words in ways.items():
            found[way].append(float(cluster.said(*words, OMPI_MCA_mpi_yield_when_idle="0")))
    for way, periods in found.items():
        print(f"\n{mpi} {way}: {statistics.median(periods):.0f} us ({min(periods):.0f} to {max(periods):.0f})", end="")
    assert {len(periods) for periods in found.values()} == {12}

# SPDX-License-Identifier: Apache-2.0
"""Jobs of srun that hang on several nodes, under `tollbar run --timeout`: as of those of mpirun, the rank that went
astray is named, and the job ends."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from astray import KINDS, Said, check
from mpi_jobs import place_of
from needs import left_out
from slurm_cluster import BY_SRUN

RUN = (sys.executable, "-m", "tollbar", "run", "--timeout", "1")
RANKS = 4
VERSION = Path(__file__).with_name("version.c")
PMI2 = Path("/usr/lib/x86_64-linux-gnu/libpmi2.so.0")  #: Slurm's, of Debian
#: Ranks that have gone end a job of PMIx, and those of MPICH abort where a peer has gone.
CASES = [(mpi, kind) for mpi in BY_SRUN for kind in KINDS if kind not in ("dead", "exited", "init")]


def compiler(name: str) -> str:
    """One of a wheel."""
    return place_of(name) or left_out(f"{name} is not installed")


def intel() -> dict[str, str]:
    """The variables with which programs of MPICH's binary interface run on Intel MPI, and that finds Slurm."""
    library = place_of("impi/lib/libmpi.so.12") or left_out("Intel MPI is not installed")
    if not PMI2.exists():
        left_out("Intel MPI does not find Slurm: libpmi2-0 is not installed")
    return {"LD_LIBRARY_PATH": str(Path(library).parent), "I_MPI_PMI_LIBRARY": str(PMI2)}


def srun_of(mpi: str, kind: str) -> list[str]:
    """On two or three nodes."""
    return ["srun", BY_SRUN[mpi], f"--nodes={2 + len(kind) % 2}", f"--ntasks={RANKS}"]


@pytest.mark.deep
@pytest.mark.parametrize(("mpi", "kind"), CASES)
def test_the_rank_that_went_astray_is_named_and_the_job_is_ended(cluster, compiled, mpi, kind):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    astray = len(kind) % RANKS
    done = cluster.run(*RUN, "--on-hang", "kill", "--", *srun_of(mpi, kind), program, kind, astray)
    check(Said(done.returncode, done.stdout + done.stderr), kind, astray, RANKS)


@pytest.mark.deep
@pytest.mark.parametrize(("mpi", "kind"), [case for at, case in enumerate(CASES) if at % 2 == at // (len(CASES) // 2)])
def test_runs_of_each_rank_name_it_once_and_end_the_step(cluster, compiled, mpi, kind):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    astray = len(kind) % RANKS
    done = cluster.run(*srun_of(mpi, kind), *RUN, "--on-hang", "kill", "--", program, kind, astray)
    check(Said(done.returncode, done.stdout + done.stderr), kind, astray, RANKS)
    assert done.stderr.count("tollbar run: the job was ended") == 1
    assert "[~" not in done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["sleep", "collective", "receive", "cycle"])
def test_ranks_of_intel_mpi_are_named_too(cluster, compiled, kind):
    """Its barriers stay its own: they are not known to be over when MPI_Finalize is."""
    program = compiled("hanging.c", compiler("mpich/bin/mpicc"), "-O2", "-g")
    astray = len(kind) % RANKS
    words = (*RUN, "--on-hang", "kill", "--", *srun_of("mpich", kind), program, kind, astray)
    done = cluster.run(*words, **intel(), TOLLBAR_VERBOSE="1")
    check(Said(done.returncode, done.stdout + done.stderr), kind, astray, RANKS)
    assert "MPI's own barriers are used everywhere" in done.stderr
    version = cluster.run(*srun_of("mpich", kind), compiled(VERSION, compiler("mpich/bin/mpicc")), **intel())
    assert version.stdout.startswith("4 ranks of Intel(R) MPI Library"), version


@pytest.mark.deep
def test_runs_of_each_rank_call_one_command_in_all(cluster, compiled, tmp_path):
    program = compiled("hanging.c", "mpicc.openmpi", "-O2", "-g")
    action = f"cat >>{tmp_path}/called; scancel $SLURM_JOB_ID.$SLURM_STEP_ID"
    done = cluster.run(*srun_of("openmpi", ""), *RUN, "--on-hang", action, "--", program, "sleep", 3)
    assert done.returncode != 0
    [said] = [line for line in (tmp_path / "called").read_text().splitlines() if " has waited " in line]
    assert "rank 3 (host n2, process " in said


@pytest.mark.deep
def test_runs_of_each_rank_write_one_account(cluster, compiled):
    program = compiled(Path(__file__).with_name("steady.c"), "mpicc.openmpi", "-O2")
    words = [sys.executable, "-m", "tollbar", "run", "--report", "-", "--", program, "2"]
    done = cluster.run(*srun_of("openmpi", ""), *words)
    assert (done.returncode, done.stdout) == (0, "steady: over, with 0 signals\n")
    assert done.stderr.count("s of all ranks in waiting for others") == 1, done.stderr


@pytest.mark.deep
def test_a_run_that_is_alone_reports_for_its_host(cluster, compiled):
    """Rank 0 has none."""
    program = compiled("hanging.c", "mpicc.openmpi", "-O2", "-g")
    some = f'[ $SLURM_PROCID = 0 ] && exec "$@"; exec {shlex.join(RUN)} --on-hang kill -- "$@"'
    done = cluster.run(*srun_of("openmpi", ""), "sh", "-c", some, "sh", program, "sleep", 3)
    assert done.returncode != 0
    assert "[~" not in done.stderr
    assert "MPI_COMM_WORLD (4 ranks), MPI_" in done.stderr

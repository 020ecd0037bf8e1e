# SPDX-License-Identifier: Apache-2.0
"""Jobs of srun that hang on several nodes, under `tollbar run --timeout`: as of those of mpirun, the rank that went
astray is named, and the job ends."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from astray import KINDS, Said, check
from slurm_cluster import BY_SRUN

RUN = (sys.executable, "-m", "tollbar", "run", "--timeout", "1")
RANKS = 4
#: Ranks that have gone end a job of PMIx, and those of MPICH abort where a peer has gone.
CASES = [(mpi, kind) for mpi in BY_SRUN for kind in KINDS if kind not in ("dead", "exited", "init")]


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

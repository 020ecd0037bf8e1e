# SPDX-License-Identifier: Apache-2.0
"""Jobs of srun that hang on several nodes, under `tollbar run --timeout`: as of those of mpirun, the rank that went
astray is named, and the job ends."""

from __future__ import annotations

import sys

import pytest
from astray import KINDS, Said, check
from slurm_cluster import BY_SRUN

#: Ranks that have gone end a job of PMIx, and those of MPICH abort where a peer has gone.
CASES = [(mpi, kind) for mpi in BY_SRUN for kind in KINDS if kind not in ("dead", "exited", "init")]


@pytest.mark.deep
@pytest.mark.parametrize(("mpi", "kind"), CASES)
def test_the_rank_that_went_astray_is_named_and_the_job_is_ended(cluster, compiled, mpi, kind):
    program = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g")
    nodes, ranks = 2 + len(kind) % 2, 4
    astray = len(kind) % ranks
    srun = ["srun", BY_SRUN[mpi], f"--nodes={nodes}", f"--ntasks={ranks}"]
    tollbar = [sys.executable, "-m", "tollbar", "run", "--timeout", "1", "--on-hang", "kill", "--"]
    done = cluster.run(*tollbar, *srun, program, kind, astray)
    check(Said(done.returncode, done.stdout + done.stderr), kind, astray, ranks)

# SPDX-License-Identifier: Apache-2.0
"""The table of launchers tells a process's rank, and whether its whole job is on one host."""

from __future__ import annotations

import os
import subprocess

import pytest
from tollbar import _native
from tollbar.look import launchers


@pytest.mark.parametrize(
    ("variables", "rank", "is_here"),
    [
        ({"RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4"}, (2, 4), True),
        ({"RANK": "2", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}, (2, 4), False),
        ({"RANK": "0", "WORLD_SIZE": "4", "MASTER_ADDR": "localhost"}, (0, 4), True),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "RANK": "3", "WORLD_SIZE": "4"}, (3, 4), False),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, (1, 2), True),
        ({"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "2", "RANK": "x"}, (1, 2), True),
        ({"PMIX_RANK": "1", "SLURM_NTASKS": "8"}, (1, 8), False),
        ({"RANK": "", "PATH": "/bin"}, None, False),
    ],
)
def test_a_rank_is_read_from_the_variables_of_any_launcher(variables, rank, is_here):
    assert launchers.rank(variables) == rank
    assert launchers.is_all_here(variables) == is_here
    assert launchers.rank({"RANK": "2", "WORLD_SIZE": "4"}, of_mpi=True) is None


def process_below(variable: str) -> tuple[subprocess.Popen[str], int]:
    """A process that was started with that variable, and one that it has started; both end with its input."""
    shell = ["sh", "-c", "sh -c 'echo $$; read line'; true"]
    env = {**os.environ, variable: "3"}
    job = subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
    return job, int(job.stdout.readline())


@pytest.mark.parametrize("row", _native.launchers(), ids=lambda row: row[0])
def test_the_library_and_the_command_know_the_same_launchers(row):
    rank, size, _, words, of_mpi = row
    assert launchers.rank({rank: "3", size: "5"}) == (3, 5)
    assert launchers.rank({rank: "3", size: "5"}, of_mpi=True) == ((3, 5) if of_mpi else None)
    assert launchers.job({rank: "3", size: "5", words[0]: "here"})[:3] == (rank, "5", "here")
    job, below = process_below(rank)
    with job:
        try:
            assert _native.launcher_of(below) == (os.getpid() if of_mpi else job.pid)
        finally:
            job.stdin.close()

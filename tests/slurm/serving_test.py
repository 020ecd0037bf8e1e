# SPDX-License-Identifier: Apache-2.0
"""Jobs of srun on several nodes, under `tollbar run`: their barriers hold, and nothing is said that the program does
not say itself."""

from __future__ import annotations

import subprocess
import sys

import pytest
from mpi_jobs import PAGE_BYTES, Programs
from slurm_cluster import BY_SRUN, Cluster

TOLLBAR = (sys.executable, "-m", "tollbar", "run")


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Programs:
    return Programs(tmp_path_factory.mktemp("mpi"))


class Steps:
    """Steps of late_rank.c, whose ranks see by a page of memory who has left a barrier early."""

    def __init__(self, cluster: Cluster, programs: Programs, mpi: str) -> None:
        self.mpi, self._cluster, self._programs = mpi, cluster, programs
        self._made = 0

    def words(self, *before: str) -> list[object]:
        """One step of four ranks on two nodes."""
        page = self._cluster.folder / f"page-{self.mpi}-{self._made}"
        self._made += 1
        with page.open("wb") as file:
            file.truncate(PAGE_BYTES)
        program = self._programs.get("late_rank", f"mpicc.{self.mpi}")
        return ["srun", BY_SRUN[self.mpi], "--nodes=2", "--ntasks=4", *before, program, page, "4", ""]

    def run(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        return self._cluster.run(*words, **variables)


@pytest.fixture(params=BY_SRUN)
def steps(request, cluster, programs) -> Steps:
    return Steps(cluster, programs, request.param)


def check(done: subprocess.CompletedProcess[str]) -> None:
    """Every barrier has held, and the output is the program's own line alone."""
    assert (done.returncode, done.stderr) == (0, ""), (done.stdout, done.stderr)
    assert done.stdout.startswith("passed: "), done.stdout
    assert done.stdout.count("\n") == 1, done.stdout


def test_the_output_of_a_step_is_its_program_s_own(steps):
    check(steps.run(*TOLLBAR, "--", *steps.words()))

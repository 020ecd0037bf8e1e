# SPDX-License-Identifier: Apache-2.0
"""A batch system is told of a job, and does something to it: a job that hangs ends and is started again; time limits,
preemption and signals are no hangs."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
from slurm_cluster import BY_SRUN, Cluster

pytestmark = pytest.mark.deep
PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "clusters.md"
TOLLBAR = f"{sys.executable} -m tollbar"
FOUR_RANKS = ("--nodes=2", "--ntasks=4")


def under_run(command: str, action: str = "kill") -> str:
    """A script that gives Slurm the exit code of `tollbar run`."""
    return f"#!/bin/bash\n{TOLLBAR} run --timeout 1 --on-hang '{action}' -- {command}\nexit $?\n"


def lines_of_the_page() -> str:
    """The script of the page of how-to."""
    return re.search(r"^# requeue\.sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]


class Batch:
    """A script of sbatch."""

    def __init__(self, cluster: Cluster, folder: Path, script: str, *options: str) -> None:
        self.cluster, self.output = cluster, folder / "output"
        file = folder / "script.sh"
        file.write_text(script)
        # The output of the time before the job was started again stays.
        words = ["--open-mode=append", f"--output={self.output}", *options, file]
        self.number = cluster.submitted(*words)

    @property
    def said(self) -> str:
        return self.output.read_text() if self.output.exists() else ""

    def shown(self, name: str) -> str:
        """The value that Slurm has of the job under that name."""
        return re.search(rf"\b{name}=(\S+)", self.cluster.said("scontrol", "show", "job", self.number))[1]

    def wait(self, *states: str) -> None:
        self.cluster.wait(lambda: self.shown("JobState") in states, f"it is not {states}")


@pytest.fixture(params=BY_SRUN)
def steady(request, compiled) -> str:
    """`srun` with that program, for each MPI."""
    program = compiled(Path(__file__).with_name("steady.c"), f"mpicc.{request.param}", "-O2", "-g")
    return f"srun {BY_SRUN[request.param]} {program}"


@pytest.fixture
def batch(cluster, tmp_path):
    return lambda script, *options: Batch(cluster, tmp_path, script, *options)


def test_the_lines_of_the_page_start_a_job_that_hangs_again(batch, steady):
    script = lines_of_the_page().replace("srun ./solver", f"{steady} 1 hang")
    script = script.replace("tollbar run", f"{TOLLBAR} run").replace("--timeout 300", "--timeout 1")
    job = batch(script)
    job.wait("COMPLETED")
    assert job.shown("Restarts") == "1", job.said
    assert "tollbar run: hangs: MPI_COMM_WORLD (4 ranks), MPI_" in job.said
    assert "rank 1 (host n1, process " in job.said
    assert job.said.endswith("steady: over, with 0 signals\n")


@pytest.mark.parametrize("action", ["kill", "scontrol requeue $SLURM_JOB_ID"], ids=["exit code", "command"])
def test_slurm_starts_it_again_by_its_exit_code_or_by_a_command(batch, steady, action):
    job = batch(under_run(f"{steady} 1 hang", action), *FOUR_RANKS)
    job.wait("COMPLETED")
    assert job.shown("Restarts") == "1", job.said
    assert "tollbar run: hangs: MPI_COMM_WORLD (4 ranks), MPI_" in job.said
    assert job.said.endswith("steady: over, with 0 signals\n")


def test_a_job_that_is_stopped_for_another_one_does_not_hang(cluster, batch, steady):
    job = batch(under_run(f"{steady} 8"), *FOUR_RANKS)
    job.wait("RUNNING")
    for _ in range(2):
        time.sleep(1)
        cluster.said("scontrol", "suspend", job.number)
        job.wait("SUSPENDED")
        time.sleep(4)
        cluster.said("scontrol", "resume", job.number)
    job.wait("COMPLETED")
    assert "hangs" not in job.said
    assert job.said.endswith("steady: over, with 0 signals\n")


def test_signals_of_scancel_go_to_the_ranks_and_are_no_hang(cluster, batch, steady):
    job = batch(under_run(f"{steady} 6"), *FOUR_RANKS)
    job.wait("RUNNING")
    cluster.wait(lambda: f"{job.number}.0" in cluster.said("squeue", "--steps", "-h", "-o", "%i"), "no step starts")
    time.sleep(3)  # until the ranks have their handler
    cluster.said("scancel", "--signal=USR1", job.number)
    job.wait("COMPLETED", "FAILED")
    assert "hangs" not in job.said
    assert job.said.endswith("steady: over, with 1 signals\n")


def test_the_end_of_its_time_is_no_hang(batch, steady):
    """Slurm's clock has minutes."""
    job = batch(
        f"#!/bin/bash\nexec {TOLLBAR} run --timeout 5 --on-hang kill -- {steady} 600\n", "-N2", "-n4", "--time=1"
    )
    job.wait("TIMEOUT")
    assert "hangs" not in job.said, job.said
    assert job.shown("Restarts") == "0"

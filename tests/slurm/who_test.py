# SPDX-License-Identifier: Apache-2.0
"""`tollbar who` about a job of several nodes of Slurm: from a host on which none of its ranks is, it says what it would
say of a job of one host."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
import time

import pytest
from slurm_cluster import BY_SRUN, LIMIT_S, Cluster

TOLLBAR = (sys.executable, "-m", "tollbar")
#: Ways of going astray that frames alone show.
SEEN = ("sleep", "absent", "stopped", "loop", "lock", "input", "communicator", "collective", "receive", "init")


class Job:
    """A job of hanging.c, of which one rank goes astray."""

    def __init__(self, cluster: Cluster, program, mpi: str, kind: str, astray: int, nodes: int, ranks: int) -> None:
        self.cluster = cluster
        options = [BY_SRUN[mpi], f"--nodes={nodes}", f"--ntasks={ranks}", "--job-name=hanging"]
        self.srun = cluster.started("srun", *options, program, kind, astray)
        cluster.wait(lambda: self.number or self.srun.poll() is not None, "the job does not start")
        assert self.srun.poll() is None, self.srun.communicate()

    @property
    def number(self) -> str:
        return self.cluster.said("squeue", "-h", "--states=RUNNING", "--name=hanging", "-o", "%i").strip()

    def end(self) -> None:
        self.srun.kill()
        self.srun.communicate()


@pytest.fixture
def hang(cluster, compiled):
    """hang("mpich", "sleep", astray=3, nodes=2, ranks=4) -> Job"""
    jobs = []

    def start(mpi: str, kind: str, astray: int, nodes: int = 2, ranks: int = 4) -> Job:
        jobs.append(Job(cluster, compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g"), mpi, kind, astray, nodes, ranks))
        return jobs[-1]

    yield start
    for job in jobs:
        job.end()


def who(cluster: Cluster, *words: object) -> subprocess.CompletedProcess[str]:
    return cluster.run(*TOLLBAR, "who", *words)


def named(done: subprocess.CompletedProcess[str]) -> set[tuple[int, str]]:
    """The ranks that a table in CSV says are missing, or may be, and their hosts."""
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {(int(row["rank"]), row["host"]) for row in rows if row["part"] in ("missing", "guess")}


def who_until(cluster: Cluster, *words: object) -> subprocess.CompletedProcess[str]:
    """Looks until somebody is found missing: ranks need a while to come to where they stay."""
    end = time.monotonic() + LIMIT_S
    while True:
        done = who(cluster, *words)
        if done.returncode == 1 or time.monotonic() > end:
            return done


def test_who_asks_all_hosts_of_a_job_for_the_rank_that_is_missing(cluster, hang):
    job = hang("openmpi", "sleep", astray=3)
    done = who_until(cluster, "--job", job.number)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert done.stderr.startswith("rank 3 on n2 is in sleep() under go_astray (hanging.c:"), done.stderr
    assert done.stderr.endswith("; 3 of 4 are in MPI_Barrier\n"), done.stderr


@pytest.mark.deep
@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize("mpi", BY_SRUN)
def test_the_rank_that_went_astray_is_named_whatever_it_does(cluster, hang, mpi, kind):
    """On two or three nodes, the last of which has one rank."""
    nodes = 2 + SEEN.index(kind) % 2
    job = hang(mpi, kind, astray=SEEN.index(kind) % 4, nodes=nodes)
    done = who_until(cluster, "--job", job.number, "--csv")
    assert {rank for rank, _ in named(done)} == {SEEN.index(kind) % 4}, (done.stdout, done.stderr)


@pytest.mark.deep
def test_the_process_of_srun_leads_to_the_hosts_of_its_step(cluster, hang):
    job = hang("mpich", "sleep", astray=3)
    [srun, *_] = cluster.said("pgrep", "--full", "--exact", "srun .*hanging.*").split()
    done = who_until(cluster, srun, "--csv")
    assert named(done) == {(3, "n2")}, (done.stdout, done.stderr)
    assert job.number

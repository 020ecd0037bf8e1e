# SPDX-License-Identifier: Apache-2.0
"""`tollbar who` about a job of several nodes of Slurm: from a host on which none of its ranks is, it says what it would
say of a job of one host."""

from __future__ import annotations

import csv
import importlib.util
import io
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from needs import left_out
from slurm_cluster import BY_SRUN, LIMIT_S, Cluster

TOLLBAR = (sys.executable, "-m", "tollbar")
#: Ways of going astray that frames alone show.
SEEN = ("sleep", "absent", "stopped", "loop", "lock", "input", "collective", "receive", "init")


class Job:
    """A job of hanging.c, of which one rank goes astray."""

    def __init__(self, cluster: Cluster, program, mpi: str, kind: str, astray: int, nodes: int, ranks: int) -> None:
        self.cluster, self.program = cluster, program
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


def who(cluster: Cluster, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return cluster.run(*TOLLBAR, "who", *words, **variables)


def named(done: subprocess.CompletedProcess[str]) -> set[tuple[int, str]]:
    """The ranks that a table in CSV says are missing, or may be, and their hosts."""
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {(int(row["rank"]), row["host"]) for row in rows if row["part"] in ("missing", "guess")}


def who_until(cluster: Cluster, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Looks until somebody is found missing: ranks need a while to come to where they stay."""
    end = time.monotonic() + LIMIT_S
    while True:
        done = who(cluster, *words, **variables)
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


@pytest.mark.deep
def test_hosts_by_name_are_asked_by_what_the_site_has_configured(cluster, hang, tmp_path):
    if importlib.util.find_spec("ClusterShell") is None:
        left_out("ClusterShell is not installed: scripts/setup")
    agent = Path(__file__).resolve().parents[1] / "support" / "ssh_to_node"
    (tmp_path / "clush.conf").write_text(f"[Main]\nssh_path: {agent}\n")
    job = hang("openmpi", "sleep", astray=3)
    done = who_until(cluster, "--hosts", "n[1-4]", job.program.name, CLUSTERSHELL_CFGDIR=str(tmp_path))
    assert done.stderr.startswith("rank 3 on n2 is in sleep() under go_astray (hanging.c:"), done.stderr
    assert "cannot tell of n4: no answer: n4: ssh: Could not resolve hostname n4" in done.stderr


@pytest.mark.deep
def test_a_node_that_does_not_respond_is_named_and_the_rest_is_said(cluster, hang):
    job = hang("openmpi", "sleep", astray=3, nodes=3, ranks=6)
    cluster.wait(lambda: who(cluster, "--job", job.number).stderr.startswith("rank 3 on n1 is in sleep()"), "no hang")
    [frozen, *_] = cluster.said("pgrep", "--full", "slurmd -D -N n3$").split()
    cluster.said("kill", "-STOP", frozen)
    try:
        done = who(cluster, "--job", job.number)
    finally:
        cluster.said("kill", "-CONT", frozen)
    assert done.stderr.startswith("rank 3 on n1 is in sleep()"), done.stderr
    assert "; 4 of 6 are in MPI_Barrier\ncannot tell of n3: " in done.stderr, done.stderr


@pytest.mark.deep
def test_what_is_no_job_of_ones_own_is_refused_in_one_line(cluster, hang, tmp_path):
    job = hang("openmpi", "sleep", astray=3)
    later = cluster.submitted("--begin=now+1hour", "--wrap=true", f"--output={tmp_path}/none")
    array = cluster.submitted("--array=1-2", "--begin=now+1hour", "--wrap=true", f"--output={tmp_path}/none")
    for words, said in {
        (f"{job.number}.7",): f"job {job.number} has no step 7, but 0",
        (later,): f"job {later} is pending: no look can be started there",
        (array,): f"job {array} is pending: no look can be started there",
        ("4711",): "job 4711 is over, or there never was one",
        ("n1",): "n1 is no job of Slurm, such as 4711 or 4711.0",
        (job.number, "17"): "give the name of a program: the number of a process is another one's on each host",
    }.items():
        done = who(cluster, "--job", *words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"tollbar who: {said}\n"), words
    of_another = cluster.run("setpriv", "--reuid=nobody", "--clear-groups", *TOLLBAR, "who", "--job", job.number)
    assert of_another.returncode == 2
    assert (
        of_another.stderr == f"tollbar who: job {job.number} is of another user, root: look as that user or as root\n"
    )


#: Ways of going astray that only the ranks' own accounts of their calls show, and what they say of it.
TOLD = {"communicator": "MPI_Barrier", "order": "MPI_Barrier", "root": "MPI_Bcast", "cycle": "MPI_Recv"}


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["sleep", *TOLD])
@pytest.mark.parametrize("mpi", BY_SRUN)
def test_ranks_that_are_watched_tell_their_calls_to_who(cluster, compiled, mpi, kind):
    """Their own run says nothing within that time."""
    program, astray = compiled("hanging.c", f"mpicc.{mpi}", "-O2", "-g"), 2
    words = (*TOLLBAR, "run", "--timeout", "1000", "--", "srun", BY_SRUN[mpi], "-N2", "-n4", "--job-name=hanging")
    with cluster.started(*words, program, kind, astray) as run:
        try:
            number = ("squeue", "-h", "--states=RUNNING", "--name=hanging", "-o", "%i")
            cluster.wait(lambda: cluster.said(*number).strip() or run.poll() is not None, "the job does not start")
            end = time.monotonic() + LIMIT_S
            job = cluster.said(*number).strip()
            while " ranks), " not in (done := who(cluster, "--job", job)).stderr and time.monotonic() < end:
                pass
        finally:
            run.kill()
    assert done.returncode == 1, (done.stdout, done.stderr)
    [said] = [line for line in done.stderr.splitlines() if "MPI_COMM_WORLD (4 ranks), " in line]
    assert " waits: " in said, said
    assert "told nothing" not in said, said
    if kind != "cycle":
        assert re.search(r" rank 2\b", said), said

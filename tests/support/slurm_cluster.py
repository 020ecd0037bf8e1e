# SPDX-License-Identifier: Apache-2.0
"""A small cluster of Slurm on this machine, for as long as a test wants it.

All of it is in namespaces of processes, networks and mounts that end with their first process, and that one ends when
this one does, however it ends: nothing is left that would have to be removed."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import left_out

LIMIT_S = 120  # whatever has not happened by then does not happen; nothing else depends on it
_PROGRAMS = {
    "srun": "slurm-wlm", "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "munged": "munge", "ip": "iproute2",
    "mount": "mount",
}  # fmt: skip
_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
_NAMESPACES = (
    "--mount",
    "--propagation",
    "private",
    "--uts",
    "--net",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
)
#: An MPI has to know that nothing but the network leads from one node to another.
_VARIABLES = {
    "SLURM_CONF": "/run/slurm/slurm.conf", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl": "tcp,self,vader", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_mpi_yield_when_idle": "1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0",
}  # fmt: skip
#: How srun talks to the ranks of an MPI.
BY_SRUN = {"openmpi": "--mpi=pmix", "mpich": "--mpi=pmi2"}


def check_that_it_can_be() -> None:
    """Skips where such a cluster cannot be made."""
    for program, package in _PROGRAMS.items():
        if shutil.which(program, path=_PATH) is None:
            left_out(f"no cluster of Slurm: {package} is not installed")
    if os.geteuid() != 0:
        pytest.skip("no cluster of Slurm: only root may make its hosts")
    tried = subprocess.run(["unshare", *_NAMESPACES, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no cluster of Slurm: {tried.stderr.strip()}")


class Cluster:
    """Commands run on its login host."""

    def __init__(self, folder: Path, init: int) -> None:
        self.folder = folder
        self._enter = ["nsenter", "--target", str(init), "--root", "--mount", "--uts", "--net", "--pid"]
        self._enter += [f"--wd={folder}", "setpriv", "--pdeathsig=KILL"]  # for nsenter has it as a child

    def started(self, *words: object, **variables: str) -> subprocess.Popen[str]:
        """The command, which the caller awaits or ends."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "TOLLBAR_", "OMPI_"))
        }
        tuning = {"TOLLBAR_TUNING": str(self.folder / "tuning")}
        return subprocess.Popen(
            [*self._enter, *map(str, words)], env=kept | _VARIABLES | tuning | variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip

    def run(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """The command, as it has ended."""
        with self.started(*words, **variables) as process:
            try:
                output, errors = process.communicate(timeout=LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(words, process.returncode, output, errors)

    def said(self, *words: object, **variables: str) -> str:
        """The output of a command that ends well."""
        done = self.run(*words, **variables)
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    def submitted(self, *words: object, **variables: str) -> str:
        """The number of a job of sbatch."""
        return self.said("sbatch", "--parsable", *words, **variables).strip()

    def cancel_everything(self) -> None:
        """Ends all jobs."""
        self.run("scancel", "--user=root", "--signal=KILL")
        self.run("scancel", "--user=root")
        self.wait(lambda: not self.said("squeue", "--noheader"), "jobs that have been cancelled go on")

    @staticmethod
    def wait(is_so, otherwise: str) -> None:
        """Until it is so; fails where that takes too long."""
        end = time.monotonic() + LIMIT_S
        while not is_so():
            assert time.monotonic() < end, otherwise
            time.sleep(0.1)


@contextlib.contextmanager
def cluster(folder: Path, nodes: int) -> Iterator[Cluster]:
    """A cluster whose nodes are idle."""
    check_that_it_can_be()
    script = Path(__file__).with_name("slurm_nodes")
    command = ["unshare", *_NAMESPACES, str(script), str(folder), str(nodes)]
    outside = subprocess.Popen(command, stdin=subprocess.PIPE)
    assert outside.stdin
    try:
        below = Path(f"/proc/{outside.pid}/task/{outside.pid}/children")
        Cluster.wait(lambda: outside.poll() is not None or below.read_text().split(), "unshare starts nothing")
        assert outside.poll() is None, "the cluster has ended"
        made = Cluster(folder, int(below.read_text().split()[0]))
        idle = f"idle {nodes}"
        Cluster.wait(
            lambda: outside.poll() is not None or made.run("sinfo", "-h", "-o", "%T %D").stdout.strip() == idle,
            "no nodes",
        )
        assert outside.poll() is None, "the cluster has ended"
        yield made
    finally:
        outside.stdin.close()
        outside.wait(LIMIT_S)  # its namespaces end when all that was in them has been waited for

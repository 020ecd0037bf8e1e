# SPDX-License-Identifier: Apache-2.0
"""The page for clusters without root: its job hangs under Slurm, and its command names the rank that the page names."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import BY_SRUN, LIMIT_S

pytestmark = pytest.mark.deep
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "without-root.md").read_text()
ANSWER = re.search(r"^```text\n(rank .*)\n```", PAGE, re.MULTILINE)[1]


@pytest.fixture(params=BY_SRUN)
def job(request, cluster, tmp_path) -> Iterator[str]:
    """The number of the page's job, with each MPI."""
    (tmp_path / "late.c").write_text(re.search(r"^```c\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1])
    compile_it = [f"mpicc.{request.param}", "-g", tmp_path / "late.c", "-o", tmp_path / "late"]
    subprocess.run(compile_it, check=True)
    options = re.search(r"^srun (.*) \./late", PAGE, re.MULTILINE)[1].split()
    srun = cluster.started("srun", BY_SRUN[request.param], *options, "--job-name=late", tmp_path / "late")
    running = ("squeue", "-h", "--states=RUNNING", "--name=late", "-o", "%i")
    cluster.wait(lambda: cluster.said(*running).strip() or srun.poll() is not None, "the job does not start")
    yield cluster.said(*running).strip()
    srun.kill()
    srun.communicate()


def test_the_job_of_the_page_gets_the_answer_of_the_page(cluster, job):
    end = time.monotonic() + LIMIT_S
    while True:  # ranks need a while to come to where they stay
        done = cluster.run(sys.executable, "-m", "tollbar", "who", "--job", job)
        if done.returncode == 1 or time.monotonic() > end:
            break
    assert (done.returncode, done.stderr) == (1, ANSWER + "\n")

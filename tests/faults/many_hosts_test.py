# SPDX-License-Identifier: Apache-2.0
"""A job of a thousand hosts that hangs is three lines at most, in little memory, whoever else writes on its stderr.

`pytest -s` prints what docs/design/missing.md has of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needs import left_out

LAUNCHER = "mpirun.mpich"
ROOT = Path(__file__).resolve().parents[2]
RANKS, MOST_MIB = 64, 1024
REFUSED = ("what ranks of a host tell cannot be read", "ranks tell what another version of tollbar has to read")


@pytest.mark.parametrize("hosts", [10, 100, pytest.param(1000, marks=pytest.mark.deep)])
def test_a_job_of_many_hosts_is_concluded_from_though_others_flood_and_lie(hosts):
    last = hosts * RANKS - 1
    if shutil.which(LAUNCHER) is None:
        left_out("no launcher: mpich is not installed")
    run = [sys.executable, "-m", "tollbar", "run", "--door", "mpich", "--timeout", "30", "--", LAUNCHER, "-n", "1"]
    job = [sys.executable, Path(__file__).with_name("many_hosts.py"), hosts, RANKS, f"17,{last}"]
    path = os.pathsep.join([str(ROOT / "tests/support"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [*run, *map(str, job)], capture_output=True, text=True, errors="replace", timeout=600, check=False,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    cpu_s, peak_mib = map(float, done.stdout.split())
    print(f"\n{hosts} hosts, {hosts * RANKS} ranks: {cpu_s:.1f} s of CPU, {peak_mib:.0f} MiB")
    said = [line for line in done.stderr.splitlines() if "MPI_Allreduce 7 at main" in line]
    assert 1 <= len(said) <= 3, done.stderr[-2000:]
    start = f"tollbar: MPI_COMM_WORLD ({hosts * RANKS} ranks), MPI_Allreduce 7 at main (a.c:3): rank 0 on n0 has waited"
    assert all(line.startswith(start) for line in said), said
    ranks = [line[len(start) :].split(" (host", 1)[0] for line in said]
    named = {int(number) for some in ranks for number in re.findall(r"\d+", some)[2:]}
    # Hosts that have not come to tell within two seconds are said to have told nothing.
    assert named == {17, last} or (named < {17, last} and "have told nothing meanwhile" in said[0]), said
    refused = [line for line in done.stderr.splitlines() if line.startswith("tollbar run: ")]
    assert refused
    assert set(refused) <= {f"tollbar run: {why}" for why in REFUSED}
    assert peak_mib < MOST_MIB

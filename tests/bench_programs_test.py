# SPDX-License-Identifier: Apache-2.0
"""The measuring programs of MPIs that come as wheels; ctest runs the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("TOLLBAR_BUILD", "build/release")


@pytest.mark.parametrize(
    ("name", "launcher"), [("openmpi5", "openmpi/bin/mpirun"), ("mpich5", "mpich/bin/mpiexec")]
)
def test_a_program_measures_and_leaves_nothing_over(name: str, launcher: str) -> None:
    program = BUILD / "bin" / f"tollbar-bench-mpi-{name}"
    if not program.exists():
        pytest.skip(f"{program.name} was not built: its MPI is not in build/mpi (make wheels)")
    command = [sys.executable, ROOT / "bench/smoke_mpi.py", ROOT / "build/mpi" / launcher, "2", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

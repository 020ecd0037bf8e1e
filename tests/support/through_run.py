# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian's MPIs, and commands that are run by `tollbar run`.

The fixture is one of tests/python/cli, whose conftest.py names it."""

import os
import shutil
import subprocess
import sys

import pytest
from needs import left_out
from tollbar.machine import doors

BARRIERS = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int episode = 0; episode < 10; ++episode) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("%d arguments\n", argc);
    MPI_Finalize();
    return argc > 1 ? 7 : 0;
}
"""


@pytest.fixture(scope="module", params=["openmpi", "mpich"])
def real(request, tmp_path_factory):
    """(launcher's words, program) of an MPI of Debian whose preload is built."""
    family = request.param
    if not (shutil.which(f"mpicc.{family}") and shutil.which(f"mpirun.{family}")):
        left_out(f"Debian's {family} is not installed")
    if doors.preload(family) is None:
        left_out(f"{doors.PRELOADS[family]} is not built")
    folder = tmp_path_factory.mktemp(family)
    (folder / "barriers.c").write_text(BARRIERS)
    compile_it = [f"mpicc.{family}", folder / "barriers.c", "-o", folder / "barriers"]
    subprocess.run(compile_it, check=True, capture_output=True)
    options = ["--allow-run-as-root", "--oversubscribe"] if family == "openmpi" else []
    return [f"mpirun.{family}", *options, "-n", "3"], folder / "barriers"


def run_tollbar(*words, **variables):
    command = [sys.executable, "-m", "tollbar", "run", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **variables}, check=False
    )

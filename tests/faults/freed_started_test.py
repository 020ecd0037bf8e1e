# SPDX-License-Identifier: Apache-2.0
"""Persistent barriers that are under way when their communicator is freed: tollbar's and the MPI's own.

Open MPI's own crash then, with and without a preload."""

import pytest
from mpi_jobs import DOORS, open_door, through


@pytest.mark.parametrize("name", through(name for name in DOORS if not name.startswith("openmpi")))
def test_persistent_barriers_end_after_their_communicator_was_freed(run, name):
    run(open_door(name), 3, "freed_started", "turnstile", "dissemination", "mcs")

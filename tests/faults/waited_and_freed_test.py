# SPDX-License-Identifier: Apache-2.0
"""Whoever waits for a request keeps what it belongs to."""

from __future__ import annotations

from mpi_jobs import open_door


def test_a_communicator_is_freed_while_a_thread_waits_for_its_barrier(run):
    run(open_door("openmpi"), 3, "waited_and_freed", MALLOC_PERTURB_="165")

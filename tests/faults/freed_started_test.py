# SPDX-License-Identifier: Apache-2.0
"""Persistent barriers that are under way when their communicator is freed: tollbar's and the MPI's own."""

from __future__ import annotations


def test_persistent_barriers_end_after_their_communicator_was_freed(run, every_door):
    run(every_door, 3, "freed_started", "turnstile", "dissemination", "mcs")

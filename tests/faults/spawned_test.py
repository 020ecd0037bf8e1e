# SPDX-License-Identifier: Apache-2.0
"""Ranks of several MPI_COMM_WORLDs: tollbar serves each world of which every rank has it.

It serves no communicator of two worlds.
"""

import pytest


def test_spawned_ranks_and_their_parents_have_barriers_whoever_has_tollbar(run, every_door):
    if every_door.name == "mpich":
        pytest.skip("Debian's MPICH 4.0.2 does not come back from MPI_Comm_spawn")
    said = run(every_door, 2, "spawned", TOLLBAR_VERBOSE="1").said
    assert said.count("tollbar: MPI_COMM_WORLD (2 ranks): ") >= 1, said

# SPDX-License-Identifier: Apache-2.0
"""Setting up does not disturb what the program does with the same communicator meanwhile."""

from __future__ import annotations


def test_a_first_barrier_while_the_communicator_is_being_duplicated(run, every_door):
    run(every_door, 3, "duplicating")

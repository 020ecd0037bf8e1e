# SPDX-License-Identifier: Apache-2.0
"""What is kept for a communicator goes when each rank is done with it; no rank waits for another one's."""

from __future__ import annotations


def test_ranks_let_go_of_a_freed_communicator_at_different_times(run, every_door):
    run(every_door, 3, "freed_apart")

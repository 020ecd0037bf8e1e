# SPDX-License-Identifier: Apache-2.0
"""The harness itself: a barrier that works passes through every door."""

from __future__ import annotations


def test_every_door_runs_a_program_of_faults(run, every_door):
    run(every_door, 3, "late_rank", "2,3", "")

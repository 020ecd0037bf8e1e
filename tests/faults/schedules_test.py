# SPDX-License-Identifier: Apache-2.0
"""Random schedules end as with the MPI's own barriers.

More of them, from another seed on: SCHEDULES=10000 SEED=1 pytest tests/faults/schedules_test.py
"""

from __future__ import annotations

import os

import pytest

RANKS = 5
COUNT = int(os.environ.get("SCHEDULES", "15"))
FIRST = int(os.environ.get("SEED", "1"))


def lines(outcome) -> list[str]:
    return [line for line in outcome.said.splitlines() if line.startswith("seed ")]


@pytest.mark.parametrize("how", ["", "hosts=2"])
def test_schedules_end_as_without_tollbar(run, door, how):
    mpis_own = run(door, RANKS, "schedules", FIRST, COUNT, "careful", opened=[], OMPI_MCA_coll="^tollbar")
    with_tollbar = run(door, RANKS, "schedules", FIRST, COUNT, *how.split())
    assert lines(with_tollbar) == lines(mpis_own)

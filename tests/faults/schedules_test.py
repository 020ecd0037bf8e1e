# SPDX-License-Identifier: Apache-2.0
"""Random schedules end as with the MPI's own barriers.

More of them, from another seed on, over other ranks:
SCHEDULES=10000 SEED=1 RANKS=2 pytest tests/faults/schedules_test.py
"""

import os

import pytest

pytestmark = pytest.mark.deep

COUNT = int(os.environ.get("SCHEDULES", "15"))
FIRST = int(os.environ.get("SEED", "1"))
RANKS = int(os.environ.get("RANKS", "5"))


def launches(most: int) -> list[tuple[int, int]]:
    """The first seed and the number of schedules of each launch."""
    seeds = range(FIRST, FIRST + COUNT, most)
    return [(first, min(most, FIRST + COUNT - first)) for first in seeds]


def lines(outcome) -> list[str]:
    return [line for line in outcome.said.splitlines() if line.startswith("seed ")]


@pytest.mark.parametrize(("first", "count"), launches(100))
@pytest.mark.parametrize("how", ["", "hosts=2"])
def test_schedules_end_as_without_tollbar(run, door, how, first, count):
    mpis_own = run(door, RANKS, "schedules", first, count, "careful", opened=[], OMPI_MCA_coll="^tollbar")
    own_requests = ["careful"] if door.name != "component" else []  # through a preload they are the MPI's
    with_tollbar = run(door, RANKS, "schedules", first, count, *own_requests, *how.split())
    assert lines(with_tollbar) == lines(mpis_own)


@pytest.mark.parametrize(("first", "count"), launches(25))
@pytest.mark.parametrize("fault", ["revoke", "kill"])
def test_schedules_with_faults_end_as_without_tollbar(start, fault_tolerant_door, fault, first, count):
    def lines_of(**settings):
        words = ("schedules", first, count, fault)
        job = start(fault_tolerant_door, 8, *words, options=("--with-ft", "ulfm"), **settings)
        outcome = job.finish()  # the launcher may end with the code of a rank that was killed
        assert "passed: " in outcome.said, outcome.said
        return lines(outcome)

    try:
        mpis_own = lines_of(opened=[])
    except (AssertionError, pytest.fail.Exception):  # Open MPI's, rarely, long after a revocation
        pytest.skip(f"from seed {first} on the MPI's own barriers fail")
    assert lines_of() == mpis_own

# SPDX-License-Identifier: Apache-2.0
"""Shared memory is asked for in the amount that is used, and a killed job leaves none of it."""

import shutil
import subprocess

import pytest
from mpi_jobs import leaves_nothing, segments


@pytest.mark.parametrize("most", [500 << 20, 4096, 0])
def test_files_may_not_be_large(run, door, most):
    said = run(door, 3, "limited", "file", most, TOLLBAR_VERBOSE="1", TOLLBAR_PLAN="turnstile").said
    assert ("use messages instead" in said) == (most < 1 << 20)


def test_whoever_locks_all_memory_locks_what_is_used(run, door):
    run(door, 3, "limited", "lock", 16 << 10, TOLLBAR_VERBOSE="1", TOLLBAR_PLAN="turnstile")


@pytest.mark.parametrize("place", range(1, 5))
def test_a_job_that_is_killed_while_it_sets_up_leaves_nothing_behind(start, door, place):
    before = segments()
    job = start(door, 3, "limited", "killed", place, TOLLBAR_PLAN="turnstile")
    assert "passed: " not in job.finish().said
    leaves_nothing(job, before)


@pytest.fixture(scope="module")
def own_process_numbers() -> list[str]:
    """What starts a rank that sees no other process than its own."""
    words = ["unshare", "--pid", "--fork", "--mount-proc"]
    if shutil.which("unshare") is None or subprocess.call([*words, "true"], stderr=subprocess.DEVNULL) != 0:
        pytest.skip("a namespace of process numbers cannot be had")
    return words


def test_ranks_that_do_not_see_each_other_share_memory_all_the_same(run, door, own_process_numbers):
    # What the MPIs themselves do without each other.
    own = {"OMPI_MCA_btl": "tcp,self", "UCX_TLS": "sysv,self"}
    said = run(
        door,
        3,
        "late_rank",
        "3",
        "turnstile",
        before=own_process_numbers,
        TOLLBAR_VERBOSE="1",
        TOLLBAR_PLAN="turnstile",
        **own,
    ).said
    assert "use messages instead" not in said

# SPDX-License-Identifier: Apache-2.0
"""A first barrier that the MPI fails in the middle fails with the MPI's error, and leaves memory alone."""

import re


def test_a_first_barrier_that_fails_returns_the_error_and_spoils_no_memory(start, preload_door):
    job = start(preload_door, 4, "failed_gather")
    job.await_that(lambda: "bytes spoilt" in job.said(), "the end of the barrier")
    found, given, spoilt = re.search(r"with class (\d+) of (\d+), (\d+) bytes spoilt", job.said()).groups()
    assert (found, spoilt) == (given, "0")

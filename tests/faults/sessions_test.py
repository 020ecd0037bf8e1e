# SPDX-License-Identifier: Apache-2.0
"""Communicators of sessions, which are there without MPI_Init: tollbar serves them while it knows the job."""

import re

import pytest


@pytest.mark.parametrize("plan", ["", "turnstile", "dissemination"])
def test_communicators_of_sessions_have_barriers_whenever_they_are_used(run, preload_door, plan):
    said = run(preload_door, 3, "sessions", TOLLBAR_PLAN=plan, TOLLBAR_VERBOSE="2").said
    counts = [int(count) for count in re.findall(r"rank \d: (\d+) barriers", said)]
    assert len(counts) == 3, said
    assert min(counts) >= 12, said  # six of each communicator

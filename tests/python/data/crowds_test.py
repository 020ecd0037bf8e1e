# SPDX-License-Identifier: Apache-2.0
"""Crowds as they were measured."""

import json

import pytest
from tollbar.data import crowds
from tollbar.data.places import Candidate

TURNSTILE = Candidate("turnstile", "turnstile", "auto")


def test_many_episodes_are_timed_by_rank_0_few_from_last_entry_to_last_entry(crowded):
    measured = crowds.gather(
        crowded(
            {
                (TURNSTILE, 1.0): {"period_us": 40.0, "episodes": 100},
                (TURNSTILE, 1000.0): {"period_us": 17000.0, "episodes": 3},  # rank 0 saw half of that
            }
        )
    )
    assert [point.period.value for point in measured.points] == [40, 17000]
    assert [point.alone_us for point in measured.points] == [16, 16000]
    assert measured.points[1].overhead_pct == pytest.approx(6.25)


def test_a_run_without_a_quantum_or_without_crowds_is_told_apart(replay_crowd, as_samples):
    lines = replay_crowd.launch(16, 1, [])
    first, floor, scheduling, *_, last = map(json.loads, lines)
    assert crowds.gather(as_samples((0, "p", [first, last]))) is None
    with pytest.raises(ValueError, match="no launch saw a quantum end"):
        crowds.gather(as_samples((0, "p", [first, floor, scheduling | {"quantum_ns": []}, last])))

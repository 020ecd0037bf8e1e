# SPDX-License-Identifier: Apache-2.0
"""What programs that measure one thing found, as series and ratios."""

import json

import pytest
from tollbar.data.records import parse_launch
from tollbar.data.singles import Singles


@pytest.fixture
def found(replay):
    found = Singles()
    for group in range(6):
        for program in replay.SINGLES:
            lines = map(json.dumps, replay.records(program, 8, "free", 2, group))
            found.add(parse_launch(lines, "here", group, program))
    return found


def test_a_loop_period_is_paired_with_that_of_the_same_round_in_one_session(found):
    reached = found.apart("turnstile", "sessions")
    assert reached.value == pytest.approx(1.5, rel=0.05)
    assert reached.low < 1.5 < reached.high
    assert reached.count == 6


def test_cpu_time_is_told_as_a_share_of_the_wait(found):
    assert found.share("turnstile").value == pytest.approx(0.01, rel=0.05)


def test_a_disturbed_batch_does_not_change_what_unused_features_add(found):
    assert found.added_ns("turnstile").value == pytest.approx(1.5)
    assert found.added_ns("dissemination").value == pytest.approx(-0.5)


def test_what_was_not_measured_is_none(found):
    assert found.apart("turnstile", "namespaces") is None
    assert found.share("mcs") is None
    assert found.added_ns("mcs") is None

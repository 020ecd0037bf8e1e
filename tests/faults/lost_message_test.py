# SPDX-License-Identifier: Apache-2.0
"""A message that the MPI lost does not count as received: the barrier fails, with the MPI's error."""

import re

import pytest


def class_of_error(job) -> tuple[int, int]:
    job.await_that(lambda: "left with class" in job.said(), "the end of the barrier")
    found, given = re.search(r"left with class (\d+) of (\d+)", job.said()).groups()
    return int(found), int(given)


@pytest.mark.parametrize("fault", ["test", "start"])
def test_a_rank_that_lost_a_message_leaves_with_the_error(start, preload_door, fault):
    found, given = class_of_error(start(preload_door, 4, "lost_message", fault))
    assert found == given


@pytest.mark.parametrize("call", ["barrier", "ibarrier"])
@pytest.mark.parametrize("fault", ["send", "receive", "over"])
def test_a_rank_in_the_component_that_lost_a_message_leaves_with_it(start, component_door, fault, call):
    found, given = class_of_error(start(component_door, 4, "lost_in_component", fault, call))
    assert found == given

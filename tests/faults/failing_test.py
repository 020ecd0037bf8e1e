# SPDX-License-Identifier: Apache-2.0
"""With a fault-tolerant MPI every wait ends with its error for a dead rank or a revoked communicator."""

import pytest

RANKS = 4
FAULT_TOLERANT = ("--with-ft", "ulfm")
CALLS = ["barrier", "wait", "test", "waitall", "start", "first"]
EVENTS = ["kill", "revoke"]


def survive(start, door, *arguments: str, **environment) -> None:
    job = start(door, RANKS, "failing", *arguments, options=FAULT_TOLERANT, **environment)
    said = job.finish().said  # the launcher may end with the code of the rank that was killed
    assert "passed: " in said, said


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("call", CALLS)
def test_every_call_ends_with_the_error_and_the_others_go_on(start, fault_tolerant_door, call, event):
    survive(start, fault_tolerant_door, call, event, TOLLBAR_PLAN="turnstile")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("plan", ["dissemination", "mcs", "central", "turnstile/dissemination"])
def test_every_plan_ends_with_the_error(start, fault_tolerant_door, plan, event):
    survive(start, fault_tolerant_door, "barrier", event, TOLLBAR_PLAN=plan)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("how", ["apart", "threads"])
def test_messages_and_threads_end_with_the_error(start, fault_tolerant_door, how, event):
    survive(start, fault_tolerant_door, "barrier", event, how, TOLLBAR_PLAN="dissemination")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("plan", ["turnstile", "dissemination"])
@pytest.mark.parametrize("how", ["apart", ""])
def test_nobody_leaves_without_the_error_before_a_late_rank_that_lives(start, fault_tolerant_door, how, plan, event):
    survive(start, fault_tolerant_door, "barrier", event, "late", how, TOLLBAR_PLAN=plan)


@pytest.mark.parametrize("policy", ["spin", "yield", "park"])
def test_whoever_waits_in_whatever_way_ends_with_the_error(start, fault_tolerant_door, policy):
    survive(start, fault_tolerant_door, "barrier", "kill", TOLLBAR_PLAN="turnstile", TOLLBAR_WAIT=policy)

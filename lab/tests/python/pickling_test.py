# SPDX-License-Identifier: Apache-2.0
"""The models' values can be sent to another process and copied."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
import tollbar
import tollbar_lab
from seen import seen

PLAN = tollbar.plan("mcs:4,2", 8)
LOGP = tollbar.LogP(L=10, o=5, g=3)
NIC = tollbar_lab.simulate_nic(PLAN, "nic", tollbar_lab.nic_parts("lanai4.3"), compute_us=[3.0], most_spans=9)
PROGRAM = tollbar_lab.SchedulerApplication(
    barrier="mcs:4,2", waiting="smart", placement="given", order="shuffled", processor_of=[1, 0, 2], processors=3,
    yields=2, arrival_us=7.0, events=[[("compute", 5.0 + one), ("send", (one + 1) % 3), ("receive", (one + 2) % 3),
    ("barrier", 0)] for one in range(3)],
)  # fmt: skip
SCHEDULED = tollbar_lab.simulate_scheduler(
    [PROGRAM, tollbar_lab.SchedulerApplication(threads=3, barriers=2)], processors=6, kernel="fair", until_us=1e6
)
#: One of each class.
VALUES = [
    tollbar_lab.nic_parts("lanai4.3"),
    tollbar_lab.cores_machine("epyc").changed(name="mine", numbers={"busy": 0.25}),
    tollbar_lab.closed_form(tollbar.plan("central", 8), LOGP),
    tollbar_lab.simulate_cores("pairwise", 4, machine=tollbar_lab.cores_machine("mesh"), episodes=3),
    NIC,
    NIC.history[5],
    PROGRAM,
    SCHEDULED,
    SCHEDULED.applications[0],
    SCHEDULED.history[3],
]


def test_every_public_class_is_a_value():
    public = {name for name in tollbar_lab.__all__ if inspect.isclass(getattr(tollbar_lab, name))}
    assert public == {type(value).__name__ for value in VALUES}


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_the_same_after_it_was_sent_or_copied(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert seen(pickle.loads(pickle.dumps(value, protocol))) == seen(value)
    assert seen(copy.copy(value)) == seen(copy.deepcopy(value)) == seen(value)


def test_a_program_that_was_sent_is_scheduled_as_ever():
    """Nothing can be asked of one."""
    sent = pickle.loads(pickle.dumps(PROGRAM))
    outcomes = [
        tollbar_lab.simulate_scheduler([one], processors=3, kernel="fair")
        for one in (PROGRAM, sent, copy.deepcopy(PROGRAM))
    ]
    assert seen(outcomes[0]) == seen(outcomes[1]) == seen(outcomes[2])

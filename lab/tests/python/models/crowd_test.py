# SPDX-License-Identifier: Apache-2.0
"""Crowds, measured and simulated: what is compared with what, and what is said of the difference."""

import json

import pytest
import tollbar_lab
from tollbar.data.places import Candidate
from tollbar_lab.models import crowd
from tollbar_lab.models.crowd import Model

TURNSTILE = Candidate("turnstile", "turnstile", "auto")
TREE = Candidate("mcs", "plan", "park")
SPINNER = Candidate("turnstile", "turnstile", "spin")
SLEEPER = Candidate("pthread_barrier", "peer", "auto")


def simulated(barrier, waiting, compute_us, switch_us):
    return tollbar_lab.simulate_scheduler(
        [tollbar_lab.SchedulerApplication(compute_us=compute_us, barrier=barrier, waiting=waiting)],
        processors=1, quantum_us=4000, switch_us=switch_us,
    )  # fmt: skip


def test_the_simulator_is_told_the_measured_quantum_and_the_switch_of_the_way_of_waiting(crowded):
    crowds = crowd.gather(
        crowded({(each, 100.0): {"period_us": 2000.0} for each in (TURNSTILE, SLEEPER, SPINNER)}, launches=1)
    )
    assert crowds.scheduler.quantum_us.value == 4000
    found = {point.candidate: point.simulated.period_us for point in crowds.points}
    for candidate, (barrier, waiting, switch_us) in {
        TURNSTILE: ("centralized", "naive", 1.5),
        SLEEPER: ("centralized", "smart", 2.5),
        SPINNER: ("centralized", "spin", 1.5),
    }.items():
        expected = simulated(barrier, waiting, 100.0, switch_us).applications[0].per_barrier_us
        assert found[candidate] == pytest.approx(expected)
    assert found[SPINNER] == pytest.approx(15 * 4000, rel=0.01)  # a quantum for each other thread


def test_trees_are_simulated_in_several_orders_of_turns(crowded):
    (point,) = crowd.gather(crowded({(TREE, 1.0): {"period_us": 90.0}})).points
    numbered = simulated("tree", "naive", 1.0, 1.5).switches / 60
    assert numbered == pytest.approx(32, rel=0.02)
    assert point.simulated.switches > 1.4 * numbered


@pytest.mark.parametrize(
    ("candidate", "model"),
    [
        (("pthread_barrier", "peer", "auto"), ("centralized", "smart")),
        (("std::barrier", "peer", "auto"), ("centralized", "naive")),
        (("combination", "combination", "yield"), ("combination", "naive")),
        (("dissemination", "plan", "spin"), ("dissemination", "spin")),
    ],
)
def test_every_barrier_has_a_model_of_its_shape(candidate, model):
    assert crowd.model_of(Candidate(*candidate)) == Model(*model)


def test_few_turns_are_timed_from_last_entry_to_last_entry(crowded):
    measured = crowd.gather(
        crowded(
            {
                (TURNSTILE, 1.0): {"period_us": 40.0, "turns": 100},
                (TURNSTILE, 1000.0): {"period_us": 17000.0, "turns": 3},  # rank 0 saw half of that
            }
        )
    )
    assert [point.period.value for point in measured.points] == [40, 17000]
    assert [crowd.alone_us(point.place) for point in measured.points] == [16, 16000]
    assert measured.points[1].overhead_pct == pytest.approx(6.25)


def test_a_run_without_a_quantum_or_without_crowds_is_told_apart(replay_crowd, as_samples):
    lines = replay_crowd.launch(16, 1, [])
    first, floor, scheduling, last = map(json.loads, lines)
    assert crowd.gather(as_samples((0, "p", [first, last]))) is None
    with pytest.raises(ValueError, match="no launch saw a quantum end"):
        crowd.gather(as_samples((0, "p", [first, floor, scheduling | {"quantum_ns": []}, last])))

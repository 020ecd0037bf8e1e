# SPDX-License-Identifier: Apache-2.0
"""Crowds, measured and simulated: what is compared with what, and what is said of the difference."""

import json

import pytest
import tollbar_lab
from tollbar.data.places import Candidate
from tollbar.report import crowd_section
from tollbar_lab.models import crowd
from tollbar_lab.models.crowd import Model

TURNSTILE = Candidate("turnstile", "turnstile", "auto")
TREE = Candidate("mcs", "plan", "park")
SPINNER = Candidate("turnstile", "turnstile", "spin")
SLEEPER = Candidate("pthread_barrier", "peer", "auto")


@pytest.fixture
def gather(replay_crowd, as_samples):
    """gather({(candidate, compute_us): what is measured}) for 16 threads on 1 processor, three launches."""

    def gathered(measured, launches=3, **more):
        visits = [
            replay_crowd.record(*candidate, compute_us, 0.0, **each)
            for (candidate, compute_us), each in measured.items()
        ]
        lines = list(map(json.loads, replay_crowd.launch(16, 1, visits)))
        return crowd.gather(as_samples(*((number, "p", lines) for number in range(launches))))

    return gathered


def simulated(barrier, waiting, compute_us, switch_us):
    return tollbar_lab.simulate_scheduler(
        [tollbar_lab.SchedulerApplication(compute_us=compute_us, barrier=barrier, waiting=waiting)],
        processors=1, quantum_us=4000, switch_us=switch_us,
    )  # fmt: skip


def test_the_simulator_is_told_the_measured_quantum_and_the_switch_of_the_way_of_waiting(gather):
    crowds = gather({(each, 100.0): {"period_us": 2000.0} for each in (TURNSTILE, SLEEPER, SPINNER)}, launches=1)
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


def test_trees_are_simulated_in_several_orders_of_turns(gather):
    (point,) = gather({(TREE, 1.0): {"period_us": 90.0}}).points
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


def test_many_episodes_are_timed_by_rank_0_few_from_last_entry_to_last_entry(gather):
    crowds = gather(
        {
            (TURNSTILE, 1.0): {"period_us": 40.0, "episodes": 100},
            (TURNSTILE, 1000.0): {"period_us": 17000.0, "episodes": 3},  # rank 0 saw half of that
        }
    )
    assert [point.period.value for point in crowds.points] == [40, 17000]
    assert [point.alone_us for point in crowds.points] == [16, 16000]
    assert crowds.points[1].overhead_pct == pytest.approx(6.25)


@pytest.mark.parametrize(("tree_us", "taken"), [(36.0, TURNSTILE), (20.0, TREE)])
def test_what_to_take_gives_way_and_needs_a_setting_only_where_that_is_worth_it(gather, tree_us, taken):
    peer = Candidate("std::barrier", "peer", "auto")
    times = {
        TURNSTILE: (40.0, 1700.0),
        TREE: (tree_us, 1700.0),
        SPINNER: (30.0, 1600.0),  # never to be taken, however fast
        peer: (60.0, 1600.0),
    }
    crowds = gather(
        {
            (candidate, compute_us): {"period_us": period_us}
            for candidate, both in times.items()
            for compute_us, period_us in zip((1.0, 100.0), both, strict=True)
        }
    )
    (verdict,) = crowd_section.verdicts(crowds)
    assert (verdict.place.ranks, verdict.place.processors, verdict.place.variation) == (16, 1, 0.0)
    assert verdict.take == taken
    fastest_us = min(tree_us, 30.0)
    assert verdict.worst == pytest.approx(max(times[taken][0] / fastest_us, 1700 / 1600))
    assert verdict.peers == {"std::barrier": pytest.approx(60 / fastest_us)}
    assert verdict.spinning == pytest.approx(max(30 / fastest_us, 1))


def test_a_run_without_a_quantum_or_without_crowds_is_told_apart(replay_crowd, as_samples):
    lines = replay_crowd.launch(16, 1, [])
    first, floor, scheduling, *_, last = map(json.loads, lines)
    assert crowd.gather(as_samples((0, "p", [first, last]))) is None
    with pytest.raises(ValueError, match="no launch saw a quantum end"):
        crowd.gather(as_samples((0, "p", [first, floor, scheduling | {"quantum_ns": []}, last])))

# SPDX-License-Identifier: Apache-2.0
"""Evidence: what is known well enough, what is slower for certain, and how often either is wrong."""

import math
import random

import pytest
from tollbar.campaigns.evidence import Evidence
from tollbar.data import statistics
from tollbar.data.schema import Launch

TODAY, OURS = "std::barrier", "tollbar::barrier"
LOOK, MOST = 6, 96


def launch(rounds=3, **periods):
    """The records that a program prints of barriers whose loop period in round r is periods[name](r)."""
    records = [
        {"name": name, "kind": kind, "wait": "auto", "round": r, "episodes": 10, "elapsed_ns": 10 * period(r)}
        for r in range(rounds)
        for (name, kind), period in periods["of"].items()
    ]
    return Launch({}, {"batch": records})


def times(chance, spread, **medians):
    """A launch in which the logarithms of all times vary by `spread` from launch to launch."""
    names = {"today": (TODAY, "peer"), "ours": (OURS, "barrier"), "other": ("mcs", "plan")}
    drawn = {names[name]: median * math.exp(chance.gauss(0, spread)) for name, median in medians.items()}
    return launch(of={key: lambda r, ns=ns: ns for key, ns in drawn.items()})


def measured(launches, spread=0.05, seed=1, **medians):
    chance, evidence = random.Random(seed), Evidence(TODAY, OURS, LOOK)
    for _ in range(launches):
        evidence.add(times(chance, spread, **medians))
    return evidence


def test_a_number_whose_interval_is_wide_wants_more_launches():
    assert not measured(LOOK, spread=1.0, today=300, ours=100).narrow


def test_a_number_whose_interval_is_narrow_may_be_said():
    evidence = measured(LOOK, today=300, ours=100)
    assert evidence.narrow
    assert evidence.ratio.low < 3 < evidence.ratio.high


def test_between_two_looks_nothing_is_decided():
    assert not measured(LOOK + 1, today=300, ours=100).narrow


def test_a_launch_that_lacks_one_of_the_pair_does_not_count():
    evidence = measured(LOOK, today=300, ours=100)
    evidence.add(launch(of={("libgomp", "peer"): lambda r: 5.0}))
    assert evidence.launches == LOOK


def test_what_is_slower_than_the_fastest_and_than_todays_is_dropped_and_stays_so():
    chance = random.Random(2)
    evidence = measured(2 * LOOK, today=300, ours=100, other=900)
    assert evidence.hopeless == {"mcs+auto"}
    evidence.add(times(chance, 0.05, today=300, ours=100))
    assert evidence.hopeless == {"mcs+auto"}


def test_what_is_faster_than_todays_is_not_dropped():
    assert measured(LOOK, today=300, ours=100, other=200).hopeless == set()


def test_of_the_two_that_are_compared_none_is_dropped():
    assert measured(LOOK, today=100, ours=900, other=100).hopeless == set()


def test_one_that_is_as_fast_as_both_is_hardly_ever_dropped():
    dropped = [measured(4 * LOOK, 0.3, seed, today=100, ours=100, other=100).hopeless for seed in range(60)]
    assert sum(map(bool, dropped)) <= 3


@pytest.mark.parametrize("spread", [0.2, 0.5])
def test_the_interval_that_ends_a_measurement_holds_the_truth_as_often_as_it_says(spread):
    held = 0
    for seed in range(100):
        chance, evidence = random.Random(seed), Evidence(TODAY, OURS, LOOK)
        while not evidence.narrow and evidence.launches < MOST:
            evidence.add(times(chance, spread, today=300, ours=100))
        held += evidence.ratio.low <= 3 <= evidence.ratio.high
    assert held >= 95


def test_each_look_has_an_interval_of_its_own_error():
    for looks in (1, 2, 3):
        evidence = measured(looks * LOOK, 0.3, today=300, ours=100)
        assert evidence.ratio.error == statistics.error([looks])
    assert measured(LOOK + 1, 0.3, today=300, ours=100).ratio.error == statistics.error([2])

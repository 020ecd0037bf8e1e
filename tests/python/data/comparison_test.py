# SPDX-License-Identifier: Apache-2.0
"""Launches sorted into situations, and the floors under them."""

import pytest
from tollbar.data import comparison, results
from tollbar.data.comparison import Situation, floor_ns
from tollbar.data.records import Floor, parse_launch

FLOOR = Floor(0, 27.0, 1450.0, 46.0)


@pytest.fixture
def compared(stored):
    return comparison.compare(results.read_run(stored()).launches)


@pytest.mark.parametrize(
    ("ranks", "bound"), [(4, 1450.0), (8, 4350.0), (16, 10150.0), (64, 44950.0), (3, 1450.0)]
)
def test_crowded_threads_need_a_switch_for_each_further_turn_on_a_processor(ranks, bound):
    assert floor_ns(FLOOR, ranks, 2) == bound


def test_threads_with_a_processor_each_need_one_transfer():
    assert floor_ns(FLOOR, 2, 2) == floor_ns(FLOOR, 8, 16) == 27.0


def test_a_floor_that_was_not_measured_is_none():
    assert floor_ns(Floor(0, None, None, None), 2, 2) is None
    assert floor_ns(Floor(0, None, None, None), 8, 2) is None


def test_situations_come_pinned_first_and_fewest_ranks_first(compared):
    assert list(compared) == [Situation(p, r) for p in ("pinned", "free") for r in (2, 4, 8)]
    assert [each.crowded for each in compared.values()] == [False, True, True] * 2


def test_a_period_is_divided_by_the_floor_of_its_own_round(compared):
    each = compared["pinned", 2]
    measured = each.candidates[each.find("mcs")]
    for launch, rounds in measured.over_floor("period").items():
        for number, value in rounds.items():
            assert value == measured.period[launch][number] / measured.floor[launch][number]
            assert value == pytest.approx(2.0, rel=0.15)


def test_switches_are_counted_for_an_episode(compared):
    each = compared["free", 8]
    assert each.candidates[each.find("combination")].switches[each_group(each)][0] == 6.0


def each_group(each):
    return next(iter(each.candidates[each.find("combination")].switches))


def test_barriers_of_two_processes_are_compared_over_their_own_floors(compared):
    each = compared["pinned", 2]
    found = each.ratio(each.find("libgomp"), each.find("mcs"))
    assert found.value == pytest.approx(2.5, rel=0.1)  # although the processes' floors differ up to sixfold
    assert each.candidates[each.find("libgomp")].program != each.candidates[each.find("mcs")].program


def test_a_candidate_is_found_under_its_policy_or_its_usual_one(compared):
    each = compared["free", 8]
    assert each.find("turnstile").label == "turnstile"
    assert each.find("turnstile", "park").label == "turnstile (park)"
    assert each.find("turnstile", "yield") is None


def test_what_was_left_out_is_known_by_its_name_and_policy(compared):
    assert compared["free", 8].skipped == {("ck_mcs", "auto"): "spins"}


def test_a_latency_of_nothing_has_a_logarithm_all_the_same(replay):
    import json

    records = replay.records("tollbar-bench-threads", 2, "free", 1, 1, "mcs")
    for record in records:
        if record["record"] == "episodes":
            record["latency_ns"] = [0.0] * len(record["latency_ns"])
    each = comparison.compare([parse_launch(map(json.dumps, records), "here")])["free", 2]
    assert each.ratio(each.find("mcs"), each.find("mcs"), "latency").value == 1.0


def test_the_tail_is_the_99th_percentile_over_the_median(compared):
    each = compared["free", 8]
    assert comparison.tail_ratio(each.candidates[each.find("std::barrier")]).value > 10
    assert comparison.tail_ratio(each.candidates[each.find("mcs")]).value < 1.2

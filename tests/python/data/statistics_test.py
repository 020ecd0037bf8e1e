# SPDX-License-Identifier: Apache-2.0
"""The statistics, on made-up data whose truth is known; every seed is fixed."""

import numpy as np
import pytest
from tollbar.data import statistics
from tollbar.data.statistics import Verdict


def series(chance, middle, launches=6, rounds=4, between=0.03, within=0.05):
    """Launches that differ from each other, with rounds that differ less than they matter."""
    return {
        launch: dict(enumerate(middle * np.exp(chance.normal(0, between) + chance.normal(0, within, rounds))))
        for launch in range(launches)
    }


def judge(**candidates):
    """By one clock."""
    return judged({name: {"time": values} for name, values in candidates.items()})


def judged(candidates):
    """By the clocks that each has, paired by round."""

    def ratio(of, to, clock):
        return statistics.ratio(candidates[of][clock], candidates[to][clock])

    return statistics.judge(list(candidates), list(next(iter(candidates.values()))), ratio)


@pytest.mark.parametrize(("count", "low", "high"), [(6, 1, 6), (8, 1, 8), (9, 2, 8), (20, 6, 15)])
def test_the_interval_of_a_median_is_between_two_of_the_values(count, low, high):
    found = statistics.median_interval(list(range(1, count + 1)))
    assert (found.low, found.high) == (low, high)
    assert found.value == (count + 1) / 2


def test_five_values_are_too_few_for_an_interval():
    assert statistics.median_interval([1, 2, 3, 4, 5]).low is None


def test_no_values_have_no_median():
    with pytest.raises(ValueError, match="no median of no values"):
        statistics.median_interval([])


@pytest.mark.parametrize("count", [6, 9, 15])
def test_the_interval_of_a_median_holds_it_at_least_95_times_in_100_whatever_the_distribution(count):
    chance = np.random.default_rng(1)
    held = 0
    for _ in range(2000):
        found = statistics.median_interval(np.exp(chance.standard_cauchy(count).clip(-20, 20)))
        held += found.low <= 1.0 <= found.high
    assert held >= 0.94 * 2000


@pytest.mark.parametrize("launches", [6, 10])
@pytest.mark.parametrize("truth", [1.0, 1.2])
def test_the_interval_of_a_ratio_holds_it_at_least_95_times_in_100(launches, truth):
    chance = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        found = statistics.ratio(series(chance, truth, launches), series(chance, 1.0, launches))
        held += found.low <= truth <= found.high
    assert held >= 0.94 * 400


def test_two_names_of_one_barrier_are_called_different_at_most_5_times_in_100():
    chance = np.random.default_rng(3)
    different = 0
    for _ in range(1000):
        standings = judge(a=series(chance, 50.0), b=series(chance, 50.0))
        different += standings[0].verdict is Verdict.BEST
    assert different <= 50


def test_a_barrier_that_is_a_third_slower_is_found():
    chance = np.random.default_rng(5)
    standings = judge(slow=series(chance, 66.0), fast=series(chance, 50.0))
    assert [(each.candidate, each.verdict) for each in standings] == [("fast", "best"), ("slow", "slower")]
    assert standings[1].ratio.low < 66 / 50 < standings[1].ratio.high


def test_the_fastest_is_not_the_best_while_another_one_cannot_be_told_from_it():
    chance = np.random.default_rng(6)
    standings = judge(fast=series(chance, 50.0, 12), even=series(chance, 50.5, 12), slow=series(chance, 90.0, 12))
    verdicts = {each.candidate: each.verdict for each in standings}
    assert verdicts == {"fast": "tie", "even": "tie", "slow": "slower"}


def by_two_clocks(chance, **middles):
    return judged(
        {
            name: {"latency": series(chance, each[0], 12), "period": series(chance, each[1], 12)}
            for name, each in middles.items()
        }
    )


def test_what_one_clock_cannot_tell_the_other_may():
    standings = by_two_clocks(np.random.default_rng(8), a=(50.0, 50.0), b=(50.0, 90.0))
    assert [(each.candidate, each.verdict) for each in standings] == [("a", "best"), ("b", "slower")]
    assert standings[1].by == "period"
    assert standings[1].ratio.low > 1


def test_when_two_clocks_disagree_it_is_a_tie():
    standings = by_two_clocks(np.random.default_rng(9), a=(50.0, 90.0), b=(80.0, 50.0))
    assert [each.verdict for each in standings] == ["tie", "tie"]


def test_two_clocks_do_not_find_more_differences_where_there_are_none():
    chance = np.random.default_rng(10)
    standings = [by_two_clocks(chance, a=(50.0, 9.0), b=(50.0, 9.0)) for _ in range(400)]
    assert sum(each[0].verdict is Verdict.BEST for each in standings) <= 20


def test_what_all_candidates_of_a_round_share_does_not_blur_their_ratio():
    chance = np.random.default_rng(7)
    shared = {launch: dict(enumerate(np.exp(chance.normal(0, 1.0, 4)))) for launch in range(6)}
    slower = {launch: {r: 1.1 * value for r, value in rounds.items()} for launch, rounds in shared.items()}
    found = statistics.ratio(slower, shared)
    assert found.low == pytest.approx(1.1)
    assert found.high == pytest.approx(1.1)


def test_rounds_that_only_one_of_two_candidates_has_are_left_out():
    found = statistics.ratio({0: {0: 2.0, 1: 900.0}, 1: {0: 2.0}}, {0: {0: 1.0}, 1: {0: 1.0, 5: 900.0}})
    assert found.value == pytest.approx(2.0)
    assert found.count == 2


def test_candidates_that_never_met_have_no_ratio():
    with pytest.raises(ValueError, match="never measured together"):
        statistics.ratio({0: {0: 1.0}}, {1: {0: 1.0}})


def test_one_launch_decides_nothing():
    standings = judge(a={0: {0: 1.0}}, b={0: {0: 9.0}})
    assert [each.verdict for each in standings] == ["tie", "tie"]
    assert standings[1].ratio.low is None


def test_the_chance_of_a_ratio_agrees_with_its_interval_after_any_look():
    for look, count in ((1, 6), (2, 12), (3, 18)):
        error = statistics.error([look])
        rank = statistics.order(count, error)
        for below in (rank, rank + 1):
            known = statistics.ratio_of_logs([-1.0] * below + [1.0] * (count - below), error)
            assert (known.low > 1) == (known.p_value <= 0.05) == (below == rank)


def test_a_chance_is_corrected_for_all_pairs_by_all_clocks():
    assert statistics.all_pairs(0.01, 2) == 0.01
    assert statistics.all_pairs(0.01, 4, 2) == pytest.approx(0.12)
    assert statistics.all_pairs(0.5, 12) == 1.0


def test_an_interval_among_all_pairs_lies_above_1_where_the_chance_so_corrected_says_slower():
    for candidates, needed in ((2, 6), (4, 8), (12, 12)):
        for count in (needed - 1, needed):
            known = statistics.ratio_of_logs([0.1] * count)
            among = statistics.among(known, candidates)
            assert among.low == (pytest.approx(np.exp(0.1)) if count == needed else None)
            assert (statistics.all_pairs(known.p_value, candidates) <= 0.05) == (count == needed)
    assert among.value == known.value


def test_equal_launches_of_a_coarse_clock_do_not_make_two_of_them_certain():
    same = {launch: {0: 2.0} for launch in range(2)}
    found = statistics.ratio(same, {launch: {0: 1.0} for launch in range(2)})
    assert (found.low, found.high, found.p_value) == (None, None, 0.5)


def test_a_launch_without_a_difference_counts_against_one():
    logs = [0.0, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]
    assert statistics.ratio_of_logs(logs).p_value == pytest.approx(2 * (1 + 8 + 28) / 256)
    assert statistics.ratio_of_logs([0.0] * 8).p_value == 1.0


def test_a_ratio_that_the_data_chose_of_several_has_an_interval_that_shares_the_error():
    known = statistics.ratio_of_logs([number / 100 for number in range(12)])
    alone, of_two = (statistics.one_of(known, number) for number in (1, 2))
    assert (alone.low, alone.high) == (known.low, known.high)
    assert of_two.low == pytest.approx(np.exp(statistics.median_interval(known.logs, 0.025).low))
    assert of_two.low < alone.low < known.value < alone.high < of_two.high

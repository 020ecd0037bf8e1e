# SPDX-License-Identifier: Apache-2.0
"""The rules of the statistics under laws that machines have, at the numbers of launches that are published."""

import laws
import numpy as np
import pytest
from scipy import stats
from tollbar.campaigns.campaign import amounts
from tollbar.data import statistics
from tollbar.data.statistics import Verdict

DRAWS = 4000
#: A coverage of 95 % comes out below this in one of 1000 simulations of DRAWS.
LEAST = 0.94

all_laws = pytest.mark.parametrize("law", laws.LAWS.values(), ids=laws.LAWS)


@all_laws
def test_an_interval_that_is_printed_holds_a_median_of_the_law(law):
    for of in (law, laws.ratios(law)):
        found = laws.printed(of, DRAWS)
        assert min(found) == 6
        assert min(found.values()) >= LEAST


@pytest.mark.parametrize(
    "name", ["lognormal", "two modes, 10 times apart", "30 % slow launches", "a heavy tail, no mean"]
)
def test_an_interval_that_is_one_launch_narrower_is_found_out(name, monkeypatch):
    order = statistics.order
    monkeypatch.setattr(statistics, "order", lambda *asked: None if order(*asked) is None else order(*asked) + 1)
    assert min(laws.printed(laws.ratios(laws.LAWS[name]), DRAWS).values()) < 0.9


def test_a_bootstrap_of_the_median_of_three_launches_is_found_out():
    """The former rule: the spread of resampled medians, corrected by sqrt(n / (n - 1)), read as Student's t."""
    count, chance = 3, np.random.default_rng(1)
    logs = laws.two_modes(chance, 2000, count)
    drawn = logs[:, chance.integers(0, count, (500, count))]
    reach = stats.t.ppf(0.975, count - 1) * np.median(drawn, axis=2).std(axis=1) * (count / (count - 1)) ** 0.5
    target = np.median(laws.two_modes(chance, 1, 200_000))
    assert np.mean(abs(np.median(logs, axis=1) - target) <= reach) < LEAST
    assert statistics.order(count, 1 - statistics.LEVEL) is None


def test_printing_an_interval_because_it_is_narrow_is_found_out():
    """The former rule of pages: what is stated is narrower than a factor of two, as launches of one mode are."""
    law, count = laws.ratios(laws.two_modes), 6
    logs = np.sort(law(np.random.default_rng(1), 20_000, count), axis=1)
    low, high = logs[:, statistics.order(count, 0.05)], logs[:, -1 - statistics.order(count, 0.05)]
    stated = high - low < np.log(2)
    target = np.median(law(np.random.default_rng(2), 1, 200_000))
    assert 0 < np.mean((low <= target) & (target <= high), where=stated) < LEAST


def test_positions_are_those_of_the_interval():
    for count in laws.COUNTS:
        found = statistics.median_interval(range(count))
        rank = statistics.order(count, 1 - statistics.LEVEL)
        assert (found.low, found.high) == ((None, None) if rank is None else (rank, count - 1 - rank))


@all_laws
@pytest.mark.parametrize("size", laws.SIZES)
def test_of_equal_candidates_one_is_called_slower_in_5_of_100_families_at_most(law, size):
    assert np.mean(laws.blamed(laws.families(law, *size, draws=1000, seed=3))) <= 0.05


@all_laws
@pytest.mark.parametrize("size", laws.SIZES)
def test_the_intervals_of_ratios_to_the_fastest_hold_together_whichever_it_is(law, size):
    candidates, count = size
    logs = laws.families(law, candidates, count, draws=1000, seed=5)
    fastest = logs[np.arange(1000), np.argmin(np.median(logs, axis=2), axis=1)][:, None]
    ratios = np.sort(logs - fastest, axis=2)
    rank = statistics.order(count, 0.05 / (candidates * (candidates - 1) // 2))
    held = (ratios[:, :, rank] <= 0) & (ratios[:, :, count - 1 - rank] >= 0)
    assert np.mean(held.all(axis=1)) >= 0.95


def test_a_correction_for_comparisons_with_the_fastest_alone_is_found_out(monkeypatch):
    order = statistics.order
    monkeypatch.setattr(statistics, "order", lambda count, error: order(count, error * 12 / 2))  # 11 tests, not 66
    assert np.mean(laws.blamed(laws.families(laws.lognormal, 12, 20, draws=1000))) > 0.05


@all_laws
@pytest.mark.parametrize("count", [6, 9, 12, 20])
def test_the_interval_of_a_ratio_to_the_best_of_seven_holds_it(law, count):
    low, high = laws.best_of(law, 7, count, draws=2000, seed=4)
    assert low + high - 1 >= LEAST


@all_laws
def test_a_run_that_its_own_times_end_prints_intervals_that_hold(law):
    for of in (law, laws.ratios(law)):
        _, printed, _, always = laws.ended(*laws.looks(of, DRAWS))
        assert always >= LEAST  # whichever look is the last one
        assert printed >= LEAST


@all_laws
def test_of_equal_candidates_hardly_one_is_called_slower_at_any_look(law):
    assert laws.ever_blamed(law, 1000) <= 0.05


@pytest.mark.parametrize("name", ["lognormal", "30 % slow launches", "a heavy tail, no mean"])
def test_an_interval_of_95_percent_at_each_look_is_found_out(name, monkeypatch):
    monkeypatch.setattr(statistics, "error", lambda _: 1 - statistics.LEVEL)
    assert laws.ended(*laws.looks(laws.ratios(laws.LAWS[name]), DRAWS))[-1] < 0.9
    assert laws.ever_blamed(laws.LAWS[name], 1000) > 0.05


def test_all_looks_together_spend_the_error_of_an_interval():
    spent = [statistics.error([look]) for look in range(1, 2000)]
    assert sum(spent) == pytest.approx(0.05, rel=1e-3)
    assert sum(spent) < 0.05
    assert statistics.order(6, spent[0]) == 0
    assert spent == sorted(spent, reverse=True)


def test_looks_at_several_runs_spend_the_product_of_their_parts():
    assert statistics.error([]) == statistics.error([0, 0]) == 1 - statistics.LEVEL
    assert statistics.error([2, 0, 3]) * 0.05 == pytest.approx(statistics.error([2]) * statistics.error([3]))


def test_a_ratio_to_the_one_that_looks_best_is_found_out():
    """The former rule: the rival with the shortest median, as though nobody had chosen it."""
    own = laws.families(laws.lognormal, 8, 12, draws=2000)
    fastest = own[np.arange(2000), 1 + np.argmin(np.median(own[:, 1:], axis=2), axis=1)]
    logs = np.sort(own[:, 0] - fastest, axis=1)
    rank = statistics.order(12, 1 - statistics.LEVEL)
    assert np.mean((logs[:, rank] <= 0) & (logs[:, -1 - rank] >= 0)) < LEAST


def test_the_ratio_to_the_best_is_the_greatest_of_all():
    near, far = (statistics.ratio_of_logs([log + spread for spread in range(9)]) for log in (0, 5))
    known = statistics.greatest([near, far])
    assert (known.value, known.high, known.count) == (far.value, far.high, 9)
    assert known.low == pytest.approx(np.exp(statistics.median_interval(far.logs, 0.025).low))


def test_families_are_judged_as_the_simulation_has_it():
    times = np.exp(laws.families(laws.slow_launches, 3, 8, draws=200))
    times[:100, 2] *= 1.5
    judged = []
    for family in times:
        of = [{launch: {0: time} for launch, time in enumerate(each)} for each in family]
        standings = statistics.judge(
            [0, 1, 2], ["a clock"], lambda one, other, _, of=of: statistics.ratio(of[one], of[other])
        )
        judged.append(any(each.verdict is Verdict.SLOWER for each in standings))
    assert 0 < sum(judged) < 200
    assert judged == list(laws.blamed(np.log(times)))


def test_the_page_has_what_the_simulation_finds():
    page = laws.PAGE.read_text(encoding="utf-8")
    assert laws.published.fill(page, laws.texts()) == page


def test_a_short_run_of_threads_can_tell_one_of_eight_after_its_first_look():
    launches = amounts("threads", "quick")["launches"]
    sure, one_less = (
        statistics.ratio_of_logs([1.0] * count, statistics.error([1])).p_value for count in (launches, launches - 1)
    )
    assert statistics.all_pairs(sure, 8) <= 0.05 < statistics.all_pairs(one_less, 8)
    assert statistics.all_pairs(sure, 4, clocks=2) <= 0.05

# SPDX-License-Identifier: Apache-2.0
"""Medians and ratios of groups of rows: those of the statistics, for every group at once."""

import polars as pl
import pytest
from tollbar.data import samples, statistics, summaries


@pytest.fixture(scope="module")
def found(stored_once):
    return samples.read([stored_once])


def here(table, ranks=2, placement="pinned"):
    return table.filter(ranks=ranks, placement=placement, apart="launcher")


def test_a_median_is_that_over_launches_of_their_rounds(found):
    rows = here(found.of("period_ns")).filter(candidate="mcs")
    (one,) = summaries.medians(rows, ["candidate"]).iter_rows(named=True)
    wanted = statistics.summary(summaries.series(rows))
    assert (one["value"], one["low"], one["high"], one["launches"]) == (
        wanted.value, wanted.low, wanted.high, wanted.count,
    )  # fmt: skip


def test_candidates_of_one_program_are_paired_by_round(found):
    table = here(summaries.ratios(found, "period_ns", "turnstile"))
    reached = summaries.intervals(table, ["candidate"])["mcs"]
    series = {
        name: summaries.series(here(found.of("period_ns")).filter(candidate=name))
        for name in ("mcs", "turnstile")
    }
    assert reached == statistics.ratio(series["mcs"], series["turnstile"])
    assert reached.value == pytest.approx(2.0, rel=0.05)


def test_candidates_of_two_programs_are_compared_over_their_own_floors(found):
    reached = summaries.intervals(here(summaries.ratios(found, "period_ns", "mcs")), ["candidate"])
    assert reached["libgomp"].value == pytest.approx(2.5, rel=0.1)  # although floors differ up to sixfold


def test_a_candidate_is_once_as_slow_as_itself(found):
    reached = summaries.intervals(here(summaries.ratios(found, "latency_ns", "mcs")), ["candidate"])
    assert (reached["mcs"].value, reached["mcs"].p_value) == (1.0, 1.0)


def test_situations_without_the_one_that_is_compared_with_are_left_out(found):
    assert summaries.ratios(found, "period_ns", "nobody's barrier").is_empty()


def test_a_period_is_divided_by_the_floor_of_its_own_round(found):
    values = here(summaries.over_floor(found, "period_ns")).filter(candidate="mcs")["value"]
    assert values.to_list() == pytest.approx([2.0] * len(values), rel=0.15)


def test_crowded_participants_have_the_floor_of_switches(found):
    crowded = here(summaries.floors(found), ranks=8)["floor"]
    switches = here(found.of("yield_switch_ns"), ranks=8)["value"]
    assert sorted(crowded) == pytest.approx(sorted(3 * switches))


def test_a_time_of_nothing_has_a_logarithm_all_the_same():
    row = dict.fromkeys(summaries.ROUND, 1) | {"candidate": "a", "value": 0.0}
    assert summaries.rounds(pl.DataFrame([row]), ["candidate"])["value"].to_list() == [1e-3]

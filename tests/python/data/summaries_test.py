# SPDX-License-Identifier: Apache-2.0
"""Medians and ratios of groups of rows: those of the statistics, for every group at once."""

from dataclasses import replace

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
    assert summaries.series(pl.DataFrame([row])) == {(1, 1): {1: 1e-3}}


@pytest.fixture
def singles(replay, as_samples):
    """What programs that measure one thing found."""
    launches = [
        (number, program, replay.records(program, 8, "free", 2, number))
        for number in range(6)
        for program in replay.SINGLES
    ]
    return as_samples(*launches)


def median(found, metric, name):
    return summaries.intervals(summaries.medians(found.of(metric), ["name"]), ["name"])[name]


def test_cpu_time_of_waiters_is_told_as_a_share_of_the_wait(singles):
    assert median(singles, "waiters_share", "turnstile").value == pytest.approx(0.01, rel=0.05)


def test_a_disturbed_batch_does_not_change_what_unused_features_add(singles):
    assert median(singles, "added_ns", "turnstile").value == pytest.approx(1.5)
    assert median(singles, "added_ns", "dissemination").value == pytest.approx(-0.5)


def test_what_is_alike_but_for_how_it_is_apart_is_paired_by_round(singles):
    rows = singles.of("period_ns").with_columns(candidate=pl.col("apart"))
    table = summaries.ratios(replace(singles, rows=rows), "period_ns", "one session", ["ranks", "name"])
    reached = summaries.intervals(table, ["name", "candidate"])["turnstile", "sessions"]
    assert reached.value == pytest.approx(1.5, rel=0.05)
    assert reached.low < 1.5 < reached.high
    assert reached.count == 6

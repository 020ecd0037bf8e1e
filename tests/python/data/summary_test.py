# SPDX-License-Identifier: Apache-2.0
"""Medians, ratios and verdicts of every situation at once: those of the statistics."""

from dataclasses import replace

import polars as pl
import pytest
from tollbar.data import samples, statistics
from tollbar.data.samples import ROUND
from tollbar.data.summary import FASTEST, floors, interval, medians, over_floor, ratio, series, summary


@pytest.fixture(scope="module")
def found(stored_once):
    return samples.read([stored_once])


def here(table, ranks=2, placement="pinned"):
    return table.filter(ranks=ranks, placement=placement, apart="launcher")


def row(table, candidate):
    (one,) = table.filter(candidate=candidate).iter_rows(named=True)
    return one


def test_a_median_is_that_over_launches_of_their_rounds(found):
    rows = here(found.of("period_ns")).filter(candidate="mcs")
    assert interval(row(medians(rows, ["candidate"], {}), "mcs")) == statistics.summary(series(rows))


def test_the_ends_of_the_launches_and_the_mean_and_tail_of_all_samples_stand_beside_the_median(found):
    rows = here(found.of("latency_ns")).filter(candidate="mcs")
    by_launch = statistics.launch_medians(series(rows)).values()
    one = row(here(summary(found, "latency_ns")), "mcs")
    assert (one["least"], one["most"]) == (min(by_launch), max(by_launch))
    assert one["mean"] == pytest.approx(rows["value"].mean())
    assert one["p99"] == rows["value"].quantile(0.99, "linear")


def test_candidates_of_one_program_are_paired_by_round(found):
    reached = ratio(row(here(summary(found, "period_ns", to="turnstile")), "mcs"))
    both = [series(here(found.of("period_ns")).filter(candidate=name)) for name in ("mcs", "turnstile")]
    assert reached == statistics.ratio(*both)
    assert reached.value == pytest.approx(2.0, rel=0.05)


def test_candidates_of_two_programs_are_compared_over_their_own_floors(found):
    reached = row(here(summary(found, "period_ns", to="mcs")), "libgomp")["ratio"]
    assert reached == pytest.approx(2.5, rel=0.1)  # although floors differ up to sixfold


def test_a_candidate_is_once_as_slow_as_itself(found):
    one = row(here(summary(found, "latency_ns", to="mcs")), "mcs")
    assert (one["ratio"], one["p_value"], one["verdict"]) == (1.0, 1.0, "tie")


def test_the_fastest_is_alone_where_all_others_are_slower_for_certain(found):
    rows = found.records.filter(pl.col("candidate").is_in(["turnstile", "mcs", "std::barrier", "libgomp", ""]))
    table = here(summary(replace(found, records=rows), "period_ns", to=FASTEST))
    first = table.sort("value").row(0, named=True)
    assert (first["candidate"], first["ratio"]) == (first["to"], 1.0)
    assert set(table["verdict"]) == {"fastest", "slower"}
    assert first["verdict"] == "fastest"


def test_a_ratio_to_the_fastest_has_an_interval_among_all_pairs(found):
    rows = found.records.filter(pl.col("candidate").is_in(["turnstile", "mcs", "std::barrier", "libgomp", ""]))
    table = here(summary(replace(found, records=rows), "period_ns", to=FASTEST))
    for one in table.iter_rows(named=True):
        among = statistics.among(ratio(one), 4)
        assert (one["among_low"], one["among_high"]) == (among.low, among.high)
        assert (one["among_low"] > 1) == (one["verdict"] == "slower")


def looked_at(found, launches):
    """The same runs, each of which its own times ended."""
    return replace(found, environments={run: facts | launches for run, facts in found.environments.items()})


def test_a_run_that_its_own_times_ended_has_the_error_of_its_last_look(found):
    once, twice = (looked_at(found, {"launches_a_look": launches}) for launches in (12, 6))
    fixed, first, second = (
        row(here(summary(each, "period_ns", to="turnstile")), "mcs") for each in (found, once, twice)
    )
    assert (fixed["launches"], fixed["pairs"]) == (12, 12)
    errors = [statistics.error(looks) for looks in ([], [1], [2])]
    assert [each["error"] for each in (fixed, first, second)] == errors
    assert ratio(second) == statistics.ratio_of_logs(second["logs"], errors[2])
    assert second["low"] < fixed["low"] < fixed["high"] < second["high"]
    assert second["p_value"] == pytest.approx(fixed["p_value"] * 0.05 / second["error"])


def test_of_several_the_first_that_was_measured_is_compared_with(found):
    table = summary(found, "period_ns", to=("nobody's barrier", "std::barrier", "mcs"))
    assert table.filter(apart="launcher")["to"].unique().to_list() == ["std::barrier"]


def test_what_was_never_measured_together_has_no_ratio_and_is_no_tie(found):
    rows = found.records.filter(pl.col("candidate").is_in(["mcs", "turnstile"]))
    away = pl.when(pl.col("candidate") == "mcs").then(pl.lit("another run")).otherwise(pl.col("run"))
    table = here(summary(replace(found, records=rows.with_columns(run=away)), "period_ns", to=FASTEST))
    assert [row(table, name)["verdict"] for name in ("turnstile", "mcs")] == ["tie", "apart"]
    assert row(table, "mcs")["ratio"] is None


def test_where_the_one_to_compare_with_is_missing_there_is_no_ratio(found):
    table = summary(found, "period_ns", to="nobody's barrier")
    assert table["ratio"].null_count() == len(table) > 0
    assert summary(found, "no_metric", to="mcs").is_empty()


def test_a_period_is_divided_by_the_floor_of_its_own_round(found):
    values = here(over_floor(found, "period_ns")).filter(candidate="mcs")["value"]
    assert values.to_list() == pytest.approx([2.0] * len(values), rel=0.15)


def test_crowded_participants_have_the_floor_of_switches(found):
    crowded = here(floors(found), ranks=8)["floor"]
    switches = here(found.of("yield_switch_ns"), ranks=8)["value"]
    assert sorted(crowded) == pytest.approx(sorted(3 * switches))


def test_a_time_of_nothing_has_a_logarithm_all_the_same():
    rows = pl.DataFrame([dict.fromkeys(ROUND, 1) | {"candidate": "a", "value": 0.0}])
    assert series(rows) == {(1, 1): {1: 1e-3}}


@pytest.fixture
def singles(replay, as_samples):
    """The values that programs which measure one thing found."""
    launches = [
        (number, program, replay.records(program, 8, "free", 2, number))
        for number in range(6)
        for program in replay.SINGLES
    ]
    return as_samples(*launches)


def median(found, metric, name):
    return interval(row(summary(found, metric, by=()), name))


def test_cpu_time_of_waiters_is_told_as_a_share_of_the_wait(singles):
    assert median(singles, "waiters_share", "turnstile").value == pytest.approx(0.01, rel=0.05)


def test_what_is_alike_but_for_how_it_is_apart_is_paired_by_round(singles):
    rows = singles.of("period_ns").with_columns(candidate=pl.col("apart"))
    table = summary(replace(singles, records=rows), "period_ns", by=["ranks", "name"], to="one session")
    reached = ratio(row(table.filter(name="turnstile"), "sessions"))
    assert reached.value == pytest.approx(1.5, rel=0.05)
    assert reached.low < 1.5 < reached.high
    assert reached.count == 6

# SPDX-License-Identifier: Apache-2.0
"""The tidy table: each record becomes rows, with the place and the candidate beside them."""

import json

import polars as pl
import pytest
from tollbar.data import results, samples, schema
from tollbar.data.samples import METRICS, PLACE


@pytest.fixture
def found(stored):
    return samples.read([stored(launches=2)])


def test_every_kind_of_record_has_metrics_or_is_about_the_launch_or_for_the_tuner():
    about_the_launch, for_the_tuner = {"environment", "skipped", "violation", "done"}, {"candidate", "choice"}
    of_checks = {"toll", "stuck"}
    assert set(schema.kinds()) - set(METRICS) == about_the_launch | for_the_tuner | of_checks | {"profile"}
    assert set(METRICS) <= set(schema.kinds())


def test_a_row_is_one_value_of_one_metric_of_one_candidate_in_one_round(found):
    batches = found.of("period_ns").filter(pl.col("apart") == "launcher")
    assert not batches.select(*samples.ROUND, "candidate").is_duplicated().any()
    latencies = found.of("latency_ns").group_by("candidate", *samples.ROUND, *PLACE).len()
    assert latencies["len"].min() > 1  # an episode each


def test_a_metric_is_computed_from_the_fields_of_its_record(tmp_path, replay):
    records = replay.records("tollbar-bench-threads", 4, "free", 1, 7)
    folder = results.new_run(tmp_path, "threads")
    results.write_environment(folder, {"kind": "threads"})
    results.write_launch(folder, 3, "p", "\n".join(map(json.dumps, records)))
    batch = next(each for each in records if each["record"] == "batch")
    named = {"name": batch["name"], "wait": batch["wait"], "metric": "period_ns"}
    (row,) = samples.read([folder]).rows.filter(**named).iter_rows(named=True)
    assert row["value"] == pytest.approx(batch["elapsed_ns"] / batch["episodes"])
    assert (row["run"], row["launch"], row["program"], row["ranks"]) == (folder.name, 3, "p", 4)


def test_places_that_programs_do_not_tell_are_the_usual_ones(found):
    (place,) = found.of("latency_ns").select("bench", "over", "hosts", "threads", "company").unique().rows()
    assert place == ("threads", "threads", 1, 1, "alone")


def test_a_policy_is_told_unless_it_is_the_usual_one(found):
    labels = set(found.rows["candidate"])
    assert {"turnstile", "turnstile (park)"} <= labels
    assert "turnstile (auto)" not in labels


def test_what_was_left_out_is_told_once_for_each_place(found):
    assert set(found.skipped["name"]) == {"ck_mcs"}
    assert not found.skipped.is_duplicated().any()


def test_no_runs_are_no_rows_of_the_same_columns(found):
    nothing = samples.read([])
    assert nothing.rows.is_empty()
    assert nothing.rows.schema == found.rows.schema


@pytest.mark.parametrize(
    ("ranks", "floor"), [(2, ("one_way_ns", 1)), (4, ("yield_switch_ns", 1)), (9, ("yield_switch_ns", 4))]
)
def test_whoever_shares_processors_is_bound_by_switches(ranks, floor):
    assert samples.floor_of({"ranks": ranks, "threads": 1, "usable": 2}) == floor


def test_threads_of_ranks_are_participants_too():
    assert samples.floor_of({"ranks": 2, "threads": 2, "usable": 2}) == ("yield_switch_ns", 1)

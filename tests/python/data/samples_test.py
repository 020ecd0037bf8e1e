# SPDX-License-Identifier: Apache-2.0
"""The tidy table: each record becomes rows, with the place and the candidate beside them."""

import json

import fake_program
import polars as pl
import pytest
from tollbar.data import results, samples, schema
from tollbar.data.samples import CANDIDATE, METRICS, PLACE
from tollbar.data.summary import rounds


@pytest.fixture
def found(stored):
    return samples.read([stored(launches=2)])


def test_every_kind_of_record_has_metrics_or_is_about_the_launch_or_for_the_tuner():
    about_the_launch, for_the_tuner = {"environment", "skipped", "violation", "done"}, {"candidate", "choice"}
    of_checks = {"toll", "stuck"}
    assert set(schema.kinds()) - set(METRICS) == about_the_launch | for_the_tuner | of_checks
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


#: A metric that is not the field of its name, computed without polars.
COMPUTED = {
    "cpu_ns": lambda record: record["cpu_ns"] / record.get("episodes", record.get("turns")),
    "switches": lambda record: (
        (record["voluntary"] + record["involuntary"]) / record.get("episodes", record.get("turns"))
    ),
    "alone_latency_ns": lambda record: record["latency_ns"],
    "alone_skew_ns": lambda record: record["skew_ns"],
    "waiters_share": lambda record: record["cpu_ns"] / record["waited_ns"],
    "busiest_waiter_share": lambda record: max(record["waiter_cpu_ns"]) / record["waited_ns"],
    "least_ns": lambda record: record["longest_ns"] / record["phases"],
    "run_ns": lambda record: record["elapsed_ns"] / record["runs"],
    "barrier_ns": lambda record: (record["elapsed_ns"] / record["runs"] - record["longest_ns"]) / record["phases"],
    "free_share": lambda record: [
        1 - one / other for one, other in zip(record["inside_ns"], record["open_ns"], strict=True)
    ],
    "busy_share": lambda record: record["cpu_ns"] / record["elapsed_ns"] / fake_program.USABLE,
}
PERIODS = {
    "dsde": lambda record: record["elapsed_ns"] / record["iterations"],
    "turns": lambda record: record.get("between_ns", record["elapsed_ns"]) / record["turns"],
    "work": lambda record: record["elapsed_ns"] / record["runs"] / record["phases"],
}


def value_of(kind, metric, record):
    if metric == "period_ns" or (kind, metric) == ("dsde", "exchange_ns"):
        return PERIODS.get(kind, lambda one: one["elapsed_ns"] / one["episodes"])(record)
    return COMPUTED.get(metric, lambda one: one.get(metric))(record)


@pytest.fixture
def one_of_each():
    """Two records of each kind that has metrics: what may be missing is there once, and a list is empty."""
    types = {"int": 0, "int+": 7, "float": 3.5, "float+": 9.5, "float|null": 2.5, "str": "b", "bool": False}
    made = []
    for number, kind in enumerate(kind for kind in schema.kinds() if kind in METRICS):
        for second in (0, 1):
            filled = {}
            for name, text in schema.fields(kind).items():
                if text.endswith("?") and second:
                    continue
                plain = text.removesuffix("?")
                many = [float(number + second + place) for place in range(1, 4)]
                filled[name] = many if plain.startswith("floats") else types[plain]
                if plain == "floats" and second and kind in ("isolated", "scheduling"):
                    filled[name] = []
                if plain == "float|null" and second:
                    filled[name] = None
            made.append(
                {"record": kind}
                | filled
                | {"round": second}
                | ({"episodes": 30} if "episodes" in filled and second else {})
            )
    return made


def launch(records, **facts):
    return [fake_program.environment(4, **facts), *records, fake_program.record("done")]


def test_rows_are_the_values_of_all_records_kind_by_kind(as_samples, one_of_each):
    launches = [(1, "a", launch(one_of_each)), (2, "mpi.b", launch(one_of_each, mpi="MPICH 4", setting="x"))]
    found = as_samples(*launches)
    wanted = []
    for kind in dict.fromkeys(record["record"] for record in one_of_each):
        for metric in METRICS[kind]:
            for number, _, records in launches:
                for record in records:
                    if record["record"] == kind:
                        value = value_of(kind, metric, record)
                        many = value if isinstance(value, list) else [value]
                        wanted += [(number, record["round"], metric, each) for each in many if each is not None]
    rows = found.rows.select("launch", "round", "metric", "value").rows()
    assert [row[:3] for row in rows] == [row[:3] for row in wanted]
    assert [row[3] for row in rows] == pytest.approx([row[3] for row in wanted])
    assert set(found.rows["over"]) == {"threads", "loopback"}


def test_records_hold_the_same_values_as_rows(as_samples, one_of_each, found):
    for some in (found, as_samples((1, "a", launch(one_of_each * 3)))):
        assert len(some.records) < len(some.rows)
        assert some.of("latency_ns").equals(some.rows.filter(metric="latency_ns"))
        by = [*PLACE, *CANDIDATE, "metric"]
        assert rounds(some.records, by).equals(rounds(some.rows, by))


def test_places_that_programs_do_not_tell_are_the_usual_ones(found):
    (place,) = found.of("latency_ns").select("bench", "over", "hosts", "threads", "neighbours").unique().rows()
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
    assert samples.floor_of({"ranks": ranks, "threads": 1, "processors": 2}) == floor


def test_threads_of_ranks_are_participants_too():
    assert samples.floor_of({"ranks": 2, "threads": 2, "processors": 2}) == ("yield_switch_ns", 1)

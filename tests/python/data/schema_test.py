# SPDX-License-Identifier: Apache-2.0
"""The reader of what measuring programs print: it takes all of it, and nothing else."""

import json

import pytest
from tollbar.data.schema import MalformedRecord, parse_launch, parse_record


@pytest.fixture
def lines(replay):
    return [json.dumps(record) for record in replay.records("tollbar-bench-threads", 4, "free", 2, 7)]


def test_a_launch_holds_every_record_that_was_printed(lines):
    launch = parse_launch(lines, "here")
    told = launch.environment
    assert (told["ranks"], told["placement"], told["usable"]) == (4, "free", 2)
    assert [floor["round"] for floor in launch.records["floor"]] == [0, 1]
    assert len(launch.records["batch"]) == len(launch.records["episodes"]) == 2 * 13
    assert [each["name"] for each in launch.records["skipped"]] == ["ck_mcs"]


def test_records_stand_by_their_kind(lines):
    assert set(parse_launch(lines, "here").records) == {"floor", "batch", "episodes", "skipped"}


def test_what_the_environment_says_beyond_the_schema_is_kept(lines):
    assert parse_launch(lines, "here").environment["compiler"] == "none"


def test_a_floor_that_could_not_be_measured_is_none():
    line = '{"record":"floor","round":0,"one_way_ns":null,"yield_switch_ns":1450.0,"exchange_ns":null}'
    assert parse_record(line)["one_way_ns"] is None


def test_keys_that_are_not_known_are_kept_for_later_readers():
    assert parse_record('{"record":"skipped","name":"a","why":"b","since":"c"}')["since"] == "c"


BATCH = {"record": "batch", "round": 0, "name": "mcs", "kind": "plan", "wait": "auto", "episodes": 4,
         "elapsed_ns": 8.0, "cpu_ns": 9.0, "voluntary": 0, "involuntary": 1, "cut": False}  # fmt: skip
EPISODES = {"record": "episodes", "round": 0, "name": "mcs", "kind": "plan", "wait": "auto",
            "latency_ns": [1.0, 2.0], "skew_ns": [1.0, 2.0], "span_ns": [1.0, 2.0]}  # fmt: skip


IDLE = {"record": "idle", "round": 0, "name": "turnstile", "kind": "turnstile", "wait": "auto", "waiters": 64,
        "waited_ns": 5e8, "cpu_ns": 1e6}  # fmt: skip


LATE = {"record": "late", "round": 0, "name": "mcs", "kind": "plan", "wait": "auto", "waited_ns": 1e8,
        "waiter_cpu_ns": [1e6], "wake_ns": 1e4}  # fmt: skip


@pytest.mark.parametrize("program", ["tollbar-bench-processes", "tollbar-bench-idle"])
def test_a_program_that_measures_one_thing_is_read(replay, program):
    printed = replay.records(program, 8, "free", 2, 7)
    launch = parse_launch(map(json.dumps, printed), "here")
    (found,) = launch.records.values()
    assert len(found) == len(printed) - 2
    assert {each["round"] for each in found} == {0, 1}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "not an object with a key 'record'"),
        ('{"record":"bash"}', "record 'bash' is not one of"),
        (json.dumps({key: value for key, value in BATCH.items() if key != "cut"}), "'cut' is missing"),
        (json.dumps(BATCH | {"episodes": 0}), "'episodes' is 0, not a whole number, at least 1"),
        (json.dumps(BATCH | {"elapsed_ns": 0}), "'elapsed_ns' is 0, not a number above 0"),
        (json.dumps(BATCH | {"episodes": 4.5}), "'episodes' is 4.5, not a whole number"),
        (json.dumps(BATCH | {"episodes": True}), "'episodes' is true, not a whole number"),
        (json.dumps(BATCH | {"elapsed_ns": "8"}), "'elapsed_ns' is \"8\", not a number"),
        (json.dumps(BATCH | {"elapsed_ns": float("nan")}), "'elapsed_ns' is NaN, not a number"),
        (json.dumps(BATCH | {"cut": 0}), "'cut' is 0, not true or false"),
        (json.dumps(EPISODES | {"skew_ns": [1.0]}), "must be of one length"),
        (json.dumps(EPISODES | {"skew_ns": [1.0, -2.0]}), "'skew_ns' is [1.0, -2.0], not a list of numbers"),
        (json.dumps(IDLE | {"waited_ns": 0}), "'waited_ns' is 0, not a number above 0"),
        (json.dumps(IDLE | {"waiters": None}), "'waiters' is null, not a whole number"),
        (json.dumps(LATE | {"waiter_cpu_ns": []}), "a list of numbers that is not empty"),
        (
            '{"record":"environment","ranks":0,"placement":"free","usable":2}',
            "'ranks' is 0, not a whole number, at least 1",
        ),
        ('{"record":"environment","ranks":2,"placement":"here","usable":2}', "'placement' is not one of"),
    ],
)
def test_a_malformed_record_is_refused_with_its_file_its_line_and_what_is_wrong(lines, line, complaint):
    with pytest.raises(MalformedRecord) as refused:
        parse_launch([*lines[:1], line, *lines[1:]], "some/file")
    assert str(refused.value).startswith("some/file:2: ")
    assert complaint in str(refused.value)


def test_a_launch_that_ends_early_is_refused(lines):
    with pytest.raises(MalformedRecord, match=f"file:{len(lines) - 1}: ends without the record 'done'"):
        parse_launch(lines[:-1], "file")


def test_a_launch_without_an_environment_is_refused(lines):
    with pytest.raises(MalformedRecord, match="file:1: the environment record comes first, and once"):
        parse_launch(lines[1:], "file")


def test_an_empty_launch_is_refused():
    with pytest.raises(MalformedRecord, match="file:0: ends without"):
        parse_launch([], "file")


def test_a_line_after_the_end_is_refused(lines):
    with pytest.raises(MalformedRecord, match="after the closing record"):
        parse_launch([*lines, lines[1]], "file")

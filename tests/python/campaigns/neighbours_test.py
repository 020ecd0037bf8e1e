# SPDX-License-Identifier: Apache-2.0
"""The campaign beside neighbours, with replays in place of the measuring programs."""

import pytest
from tollbar.campaigns import neighbours as campaign
from tollbar.campaigns import passes
from tollbar.campaigns.campaign import Request
from tollbar.campaigns.neighbours import Where
from tollbar.data import results


def request(**changed):
    settings = {
        "ranks": (2, 4),
        "placements": ("free",),
        "beside": ("alone", "neighbour"),
        "workloads": ("0", "20~0.5"),
        "launches": 2,
        "turns_ms": 5,
        "budget_s": 300.0,
    }
    return Request(**settings | changed)


def measure(tmp_path, **changed):
    with campaign.prepared(request(**changed)) as (work, notes):
        outcome = passes.measure(work, notes, tmp_path / "runs", lambda *each: None)
    return outcome, results.read(outcome.folder)


@pytest.fixture
def two_processors(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})


def test_every_way_to_wait_is_measured_in_each_situation(tmp_path, programs, two_processors):
    outcome, run = measure(tmp_path)
    assert not outcome.failures
    assert outcome.passes == 2
    barriers = {
        (record["name"], record["wait"], launch.environment["ranks"])
        for launch in run.launches
        for record in launch.records["turns"]
    }
    for ranks in (2, 4):
        for name in ("group", "std::barrier", "pthread_barrier", "libgomp", "libomp"):
            assert (name, "auto", ranks) in barriers
        for wait in ("auto", "yield", "park"):
            assert ("tollbar::barrier", wait, ranks) in barriers
    assert ("tollbar::barrier", "spin", 2) in barriers
    assert ("tollbar::barrier", "spin", 4) not in barriers  # not everybody has a processor


def test_each_launch_tells_its_company_and_the_session_is_a_plain_one(tmp_path, programs):
    run = measure(tmp_path)[1]
    assert {launch.environment["company"] for launch in run.launches} == {"alone", "1 neighbour"}
    assert run.environment["session"] == "one plain session for all"
    assert "neighbours" not in run.environment
    assert run.environment["beside"] == ["alone", "neighbour"]


def test_only_what_was_asked_for_is_launched(tmp_path, programs):
    with campaign.prepared(request(only=("tollbar::barrier+park", "libomp"))) as (work, _):
        assert work.programs(Where("alone", "free", 2)) == ["tollbar-bench-threads.park", "tollbar-bench-omp-omp"]
    with campaign.prepared(request(only=("turnstile", "mcs:2,2"))) as (work, _):
        (program,) = work.programs(Where("alone", "free", 2))
        words = work.command(program, Where("quota", "pinned", 8), 1, 5)
    assert words[words.index("--only") + 1] == "turnstile,mcs:2,2"
    assert words[words.index("--beside") + 1] == "quota"


def test_a_fixed_policy_is_that_of_its_process(programs):
    with campaign.prepared(request()) as (work, _):
        started = work.start("tollbar-bench-threads.yield", Where("alone", "free", 2), 1, 1)
        assert started.environment["TOLLBAR_WAIT"] == "yield"
        assert list(started.command)[-2:] == ["--only", "tollbar::barrier"]
        assert "TOLLBAR_WAIT" not in work.start("tollbar-bench-threads", Where("alone", "free", 2), 1, 1).environment


def test_company_that_cannot_be_had_is_a_note_that_says_why(tmp_path, programs):
    main = programs / "tollbar-bench-threads"
    refusal = "tollbar-bench-threads: cannot make /sys/fs/cgroup/x: Permission denied"
    replay = main.read_text().partition("\n")[2]
    main.write_text(f'#!/bin/sh\ncase "$*" in *cgroup*) echo "{refusal}" >&2; exit 1;; esac\n{replay}')
    outcome, run = measure(tmp_path, beside=("alone", "cgroup", "quota"), ranks=(2,), launches=1)
    assert outcome.notes == [
        "beside a neighbour in another cgroup: not measured, cannot make /sys/fs/cgroup/x: Permission denied"
    ]
    assert {launch.environment["company"] for launch in run.launches} == {"alone", "a quota of 1.5 CPUs"}


def test_what_is_tuned_here_is_measured_too(tmp_path, programs, monkeypatch):
    (tmp_path / "tuning").write_text("tollbar-tuning 1\n")
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    outcome, _ = measure(tmp_path, ranks=(2,), launches=1)
    assert (outcome.folder / "tuning").read_text() == "tollbar-tuning 1\n"


def test_of_some_ranks_only_a_few_are_pinned():
    there = campaign.wanted(request(placements=("free", "pinned"), pinned=(4,), beside=("alone",)))
    assert there == [Where("alone", "free", 2), Where("alone", "free", 4), Where("alone", "pinned", 4)]

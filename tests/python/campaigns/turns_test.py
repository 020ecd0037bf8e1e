# SPDX-License-Identifier: Apache-2.0
"""Campaigns of threads beside neighbours, on fewer CPUs and that compute, with replays of the measuring programs."""

import pytest
from tollbar import InvalidArgument
from tollbar.campaigns import passes
from tollbar.campaigns import threads as campaign
from tollbar.campaigns.campaign import Request
from tollbar.campaigns.threads import Where
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
        assert work.programs(Where(2, "free", "alone")) == ["tollbar-bench-threads.park", "tollbar-bench-omp-omp"]
    with campaign.prepared(request(only=("turnstile", "mcs:2,2"))) as (work, _):
        (program,) = work.programs(Where(2, "free", "alone"))
        words = work.command(program, Where(8, "pinned", "quota"), 1, 5)
    assert words[words.index("--only") + 1] == "turnstile,mcs:2,2"
    assert words[words.index("--beside") + 1] == "quota"


def test_a_fixed_policy_is_that_of_its_process(programs):
    with campaign.prepared(request()) as (work, _):
        started = work.start("tollbar-bench-threads.yield", Where(2, "free", "alone"), 1, 1)
        assert started.environment["TOLLBAR_WAIT"] == "yield"
        assert list(started.command)[-2:] == ["--only", "tollbar::barrier"]
        assert "TOLLBAR_WAIT" not in work.start("tollbar-bench-threads", Where(2, "free", "alone"), 1, 1).environment


def test_company_that_cannot_be_had_is_a_note_that_says_why(tmp_path, programs):
    main = programs / "tollbar-bench-threads"
    refusal = "tollbar-bench-threads: cannot make /sys/fs/cgroup/x: Permission denied"
    replay = main.read_text().partition("\n")[2]
    main.write_text(f'#!/bin/sh\ncase "$*" in *cgroup*) echo "{refusal}" >&2; exit 1;; esac\n{replay}')
    outcome, run = measure(tmp_path, beside=("alone", "cgroup", "quota"), ranks=(2,), launches=1)
    assert outcome.notes == [
        "beside one in another control group: not measured, cannot make /sys/fs/cgroup/x: Permission denied"
    ]
    assert {launch.environment["company"] for launch in run.launches} == {"alone", "a quota of 1.5 CPUs"}


def test_what_is_tuned_here_is_measured_too(tmp_path, programs, monkeypatch):
    (tmp_path / "tuning").write_text("tollbar-tuning 1\n")
    monkeypatch.setenv("TOLLBAR_TUNING", str(tmp_path / "tuning"))
    outcome, _ = measure(tmp_path, ranks=(2,), launches=1)
    assert (outcome.folder / "tuning").read_text() == "tollbar-tuning 1\n"


def test_all_dimensions_combine_and_a_mask_makes_the_machine_smaller(programs, two_processors):
    asked = request(ranks=(2,), cpus=(1, 2), beside=("neighbour", "session"), workloads=("0", "20"))
    there = campaign.wanted(asked)
    assert len(there) == len(set(there)) == 2 * 2 * 2
    assert Where(2, "free", "session", 1, "20") in there
    assert Where(2, "free", "session", 0, "20") in there  # all that there are
    with campaign.prepared(asked) as (work, _):
        words = work.command(campaign.MAIN, Where(2, "free", "session", 1, "20"), 1, 5)
        assert words[:3] == ["taskset", "-c", "0"]
        assert "--beside session" in " ".join(words)
        assert "--workload 20 " in " ".join(words)
        assert "taskset" not in work.command(campaign.MAIN, Where(2, "free", "session", 0, "20"), 1, 5)
        assert work.say(Where(2, "free", "session", 1, "20")) == (
            "2 threads, free, on 1 CPU, beside one in another session, 20 µs between barriers"
        )


def test_bare_episodes_are_stamped_where_nobody_is_beside_and_turns_are_timed_elsewhere(programs, two_processors):
    with campaign.prepared(request(beside=(), ranks=(2,), workloads=("0", "20"))) as (work, _):
        assert [there.is_plain for there in work.situations] == [True, False]
        plain, computing = (work.command(campaign.MAIN, there, 1, 5) for there in work.situations)
        assert "--turns" not in plain
        assert "--turns" in computing
        assert "--beside" not in computing
    with campaign.prepared(request(beside=("alone",), ranks=(2,), workloads=("0",))) as (work, _):
        assert "--turns" in work.command(campaign.MAIN, work.situations[0], 1, 5)


def test_what_cannot_be_had_is_said_in_a_line_and_the_rest_is_measured(programs, two_processors):
    with campaign.prepared(request(beside=("quota",), cpus=(1, 2))) as (work, notes):
        assert {there.cpus for there in work.situations} == {0}
        assert notes == ["not measured: a quota of 1.5 CPUs takes nothing away from one CPU"]
    with pytest.raises(InvalidArgument, match=r"nothing is left to measure: a quota of 1\.5 CPUs takes nothing away"):
        campaign.prepared(request(beside=("quota",), cpus=(1,))).__enter__()
    with pytest.raises(InvalidArgument, match="--compute 1e6: 16 threads on 1 compute for 16 s a turn"):
        campaign.prepared(request(ranks=(16,), beside=(), cpus=(1,), workloads=("1e6",))).__enter__()


def test_a_spinner_without_a_cpu_of_its_own_is_measured_where_it_is_named(programs, two_processors):
    with campaign.prepared(request(only=("tollbar::barrier+spin", "mcs+spin"))) as (work, _):
        there = Where(4, "free", "", 1, "20")
        assert work.programs(there) == [campaign.MAIN, f"{campaign.MAIN}.spin"]
        assert "--quick" not in work.command(campaign.MAIN, there, 1, 5)
    with campaign.prepared(request()) as (work, _):
        assert "--quick" in work.command(campaign.MAIN, Where(4, "free", "", 1, "20"), 1, 5)

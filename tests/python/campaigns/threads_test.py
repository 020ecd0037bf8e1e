# SPDX-License-Identifier: Apache-2.0
"""Campaigns, with replays in place of the measuring programs."""

from dataclasses import replace

import pytest
from tollbar.campaigns import evidence, passes
from tollbar.campaigns import threads as campaign
from tollbar.campaigns.campaign import Request
from tollbar.data import results


def measure(tmp_path, **changed):
    said = []
    settings = {"ranks": (2, 4), "placements": ("pinned", "free"), "launches": 3, "rounds": 2, "budget_s": 300.0}
    with campaign.prepared(Request(**settings | changed)) as (work, notes):
        outcome = passes.measure(work, notes, tmp_path / "runs", lambda *each: said.append(each))
    return outcome, results.read(outcome.folder), said


def test_every_situation_has_every_program_once_in_each_pass(tmp_path, programs):
    outcome, run, said = measure(tmp_path)
    assert outcome.passes == 3
    assert not outcome.failures
    assert len(run.launches) == 3 * (4 * 3 + 1)
    for group in range(12):
        mine = [launch for launch in run.launches if launch.number == group]
        assert {launch.program for launch in mine} - set(campaign.SINGLES) == {campaign.MAIN, *campaign.PEERS}
        assert len(mine) == len({launch.program for launch in mine})
        assert len({(launch.environment["ranks"], launch.environment["placement"]) for launch in mine}) == 1
    assert said[0][:2] == (0, 12)
    assert said[-1] == (12, 12, "done")


def test_the_seed_decides_the_order_and_the_seeds_of_the_launches(tmp_path, programs):
    def order(seed):
        run = measure(tmp_path, seed=seed)[1]
        return [(launch.number, launch.environment["seed"]) for launch in run.launches]

    first = order(1)
    assert order(1) == first
    assert order(2) != first


def test_what_measures_one_thing_runs_where_it_belongs(tmp_path, programs):
    run = measure(tmp_path, ranks=(2, 4, 64), launches=1, rounds=4)[1]
    where = {
        (launch.program, launch.environment["placement"], launch.environment["ranks"])
        for launch in run.launches
        if launch.program in campaign.SINGLES
    }
    assert where == {("tollbar-bench-processes", "free", 4), ("tollbar-bench-idle", "free", 64)}
    assert all(
        {record["round"] for records in launch.records.values() for record in records}
        == set(range(min(2, campaign.SINGLES[launch.program].most_rounds)))
        for launch in run.launches
        if launch.program in campaign.SINGLES
    )


def test_with_many_threads_only_what_may_be_close_is_measured(tmp_path, programs):
    run = measure(tmp_path, ranks=(64,), launches=1)[1]
    main = [launch for launch in run.launches if launch.program == campaign.MAIN]
    names = {batch["name"] for launch in main for batch in launch.records["batch"]}
    assert names == {"tollbar::barrier", "turnstile", "combination", "std::barrier", "pthread_barrier"}
    peers = [launch for launch in run.launches if launch.program in campaign.PEERS]
    assert {launch.environment["placement"] for launch in peers} == {"free"}
    run = measure(tmp_path, ranks=(64,), launches=1, only=("mcs", "libomp"))[1]
    assert {batch["name"] for launch in run.launches for batch in launch.records["batch"]} == {"mcs", "libomp"}
    assert {launch.program for launch in run.launches} == {campaign.MAIN, "tollbar-bench-omp-omp"}


def test_the_run_says_what_it_was_asked_and_where_it_ran(tmp_path, programs):
    known = measure(tmp_path, seed=5, launches=1)[1].environment
    assert (known["seed"], known["ranks"], known["launches"], known["passes"]) == (5, [2, 4], 1, 1)
    assert known["model"]
    assert known["session"]
    assert len(known["load"]) == len(known["load_after"]) == 3
    assert {"stolen", "load_beside_after", "loud"} <= known.keys()


def test_only_what_was_asked_for_is_run(tmp_path, programs):
    run = measure(tmp_path, only=("libomp",), launches=1)[1]
    assert {launch.program for launch in run.launches} == {"tollbar-bench-omp-omp"}
    run = measure(tmp_path, only=("mcs", "libgomp"), launches=1)[1]
    assert {launch.program for launch in run.launches} == {campaign.MAIN, "tollbar-bench-omp-gomp"}
    assert {batch["name"] for launch in run.launches for batch in launch.records["batch"]} == {"mcs", "libgomp"}


def test_whole_regions_have_a_launch_of_their_own_that_is_not_pinned(tmp_path, programs):
    run = measure(tmp_path, only=("libgomp", "libgomp_for", "libgomp_region", "libgomp_tasks"), launches=1)[1]
    launches = {(launch.program, launch.environment["placement"]) for launch in run.launches}
    barriers, regions = "tollbar-bench-omp-gomp", "tollbar-bench-omp-gomp.regions"
    assert launches == {(barriers, "pinned"), (barriers, "free"), (regions, "free")}
    of = campaign.OF_RUNTIME
    assert (of[barriers], of[regions]) == (("libgomp", "libgomp_for"), ("libgomp_region", "libgomp_tasks"))


def test_nothing_of_the_user_tunes_a_candidate(tmp_path, programs, monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    monkeypatch.setenv("TOLLBAR_PLAN", "central")
    program = programs / campaign.MAIN
    program.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nexit 1\n")
    with pytest.raises(StopIteration):
        next(iter(measure(tmp_path, only=("mcs",), launches=1)[1].launches))
    seen = (tmp_path / "seen").read_text()
    assert "PATH=" in seen
    assert "OMP_" not in seen
    assert "TOLLBAR_PLAN" not in seen


def test_a_program_that_fails_is_noted_and_the_others_go_on(tmp_path, programs):
    (programs / "tollbar-bench-omp-omp").write_text("#!/bin/sh\necho no runtime >&2\nexit 7\n")
    outcome, run, _ = measure(tmp_path, launches=1)
    assert len(outcome.failures) == 4
    assert outcome.failures[0].endswith("tollbar-bench-omp-omp ended with 7: no runtime")
    ran = {launch.program for launch in run.launches} - set(campaign.SINGLES)
    assert ran == {campaign.MAIN, "tollbar-bench-omp-gomp"}


def test_a_barrier_that_lets_somebody_leave_early_is_named(tmp_path, programs):
    line = '{"record":"violation","round":0,"name":"mcs","kind":"plan","wait":"auto","early_ns":9.0}'
    (programs / campaign.MAIN).write_text(f"#!/bin/sh\necho '{line}'\nexit 1\n")
    outcome, _, _ = measure(tmp_path, launches=1)
    assert outcome.unsafe
    assert f"tollbar-bench-threads: NOT A BARRIER, {line}" in outcome.failures[0]


def test_output_that_makes_no_sense_is_noted_and_not_stored(tmp_path, programs):
    (programs / "tollbar-bench-omp-omp").write_text("#!/bin/sh\necho hello\n")
    outcome, run, _ = measure(tmp_path, launches=1)
    assert "the output of tollbar-bench-omp-omp:1: not JSON" in outcome.failures[0]
    assert len(run.launches) == 4 * 2 + 1


def test_a_peer_that_was_not_built_is_noted(tmp_path, programs):
    (programs / "tollbar-bench-omp-omp").unlink()
    outcome, _, _ = measure(tmp_path, launches=1)
    assert outcome.notes[0].startswith("libomp is not measured: ")
    (programs / "tollbar-bench-idle").unlink()
    outcome, _, _ = measure(tmp_path, launches=1)
    assert outcome.notes[1].startswith("the cost of a long wait is not measured: ")


def test_without_the_measuring_program_there_is_no_run(tmp_path, programs):
    (programs / campaign.MAIN).unlink()
    with pytest.raises(FileNotFoundError, match=campaign.MAIN):
        measure(tmp_path)
    assert not (tmp_path / "runs").exists()


def test_an_empty_budget_ends_after_the_first_pass(tmp_path, programs):
    outcome, run, _ = measure(tmp_path, budget_s=1e-9)
    assert outcome.passes == 1
    assert len(run.launches) == 4 * 3 + 1
    assert any("ended after 1 whole passes" in note for note in outcome.notes)


def test_a_short_run_measures_what_users_have_and_what_a_group_may_choose(tmp_path, programs):
    _, run, _ = measure(tmp_path, launches=1, short=True)
    assert {launch.program for launch in run.launches} == {campaign.MAIN, "tollbar-bench-omp-gomp"}
    names = {
        (launch.environment["placement"], batch["name"])
        for launch in run.launches if launch.program == campaign.MAIN for batch in launch.records["batch"]
    }  # fmt: skip
    common = {"tollbar::barrier", "turnstile", "dissemination", "std::barrier", "pthread_barrier"}
    assert {name for placement, name in names if placement == "free"} == common
    assert {name for placement, name in names if placement == "pinned"} == {*common, "combination"}


def test_launches_go_on_only_where_todays_barrier_is_not_told_from_tollbars(tmp_path, programs, monkeypatch):
    short = {"launches": 6, "short": True, "most_launches": 12, "rounds": 1}
    assert measure(tmp_path, **short)[0].passes == 6
    monkeypatch.setattr(evidence.Evidence, "narrow", False)
    outcome, run, _ = measure(tmp_path, **short)
    assert outcome.passes == 12
    assert run.environment["launches_a_look"] == 6
    beyond = [launch for launch in run.launches if launch.number >= 6 * 4]
    assert {launch.program for launch in beyond} == {campaign.MAIN}
    assert {batch["name"] for launch in beyond for batch in launch.records["batch"]}.isdisjoint({"pthread_barrier"})
    later = {launch.environment["placement"] for launch in run.launches if launch.number >= 6 * 4}
    assert later == {"free"}  # sentences are about threads that the kernel places


def test_an_interrupted_run_is_called_incomplete_in_its_folder(tmp_path, programs):
    def interrupt(done, *_):
        if done == 2:
            raise KeyboardInterrupt

    settings = Request(ranks=(2, 4), placements=("free",), launches=3, rounds=1, budget_s=300.0)
    with campaign.prepared(settings) as (work, notes), pytest.raises(KeyboardInterrupt) as raised:
        passes.measure(work, notes, tmp_path / "runs", interrupt)
    run = results.newest(tmp_path / "runs", "threads")
    assert raised.value.__notes__ == [f"{run} is incomplete"]
    stored = results.read_environment(run)
    assert stored["incomplete"] is True
    assert {"load_after", "load_beside_after", "stolen", "loud", "passes"} <= stored.keys()
    assert not {"incomplete", "launches_a_look"} & measure(tmp_path, launches=1)[1].environment.keys()


def test_a_number_of_episodes_is_asked_of_the_programs_and_given_time(programs):
    request = Request(ranks=(4,), placements=("free",), launches=10, budget_s=60.0, episodes=100_000)
    situation = campaign.Where(4, "free")
    with campaign.prepared(request) as (work, _):
        for program in (campaign.MAIN, *campaign.PEERS):
            start = work.start(program, situation, 1, 1)
            assert start.command[start.command.index("--episodes") + 1] == "100000"
            assert start.limit_s == 3600
    with campaign.prepared(replace(request, episodes=0)) as (work, _):
        start = work.start(campaign.MAIN, situation, 1, 1)
        assert "--episodes" not in start.command
        assert start.limit_s == 120


def test_doors_are_the_barriers_that_preloads_take_over_as_far_as_they_are_here(programs, monkeypatch):
    here = {"tollbar::barrier", "pthread_barrier", "pthread_door", "libgomp", "libgomp_for", "std::barrier"}
    monkeypatch.setattr(campaign, "names", lambda _: here)
    only = ("std::barrier", "doors", "no such barrier", "pthread_barrier")
    asked = campaign.spelled_out(Request(ranks=(2,), launches=3, budget_s=1.0, only=only))
    assert list(asked.only) == [
        *("std::barrier", "tollbar::barrier", "pthread_barrier", "pthread_door", "libgomp", "libgomp_for"),
        "no such barrier",  # which is refused by its name later
    ]
    assert campaign.spelled_out(asked) is asked

# SPDX-License-Identifier: Apache-2.0
"""A finding about the stacks of a job names who does something else, and whatever the stacks are, it accuses nobody
who waits as the others do."""

from __future__ import annotations

import itertools
import random

import pytest
from tollbar.cli import concluded
from tollbar.look import facts, jobs, sight

PATHS = {
    "all_reduce": ((("module", "t.py:9"), ("train", "t.py:5")), "all_reduce", True),
    "recv": ((("module", "t.py:9"), ("train", "t.py:4"), ("meet", "t.py:2")), "recv", False),
    "load": ((("module", "t.py:9"), ("train", "t.py:6"), ("load", "t.py:7")), "sleep", False),
    "poll": ((("module", "t.py:9"), ("train", "t.py:4"), ("meet", "t.py:3")), "recv", False),
    "native": ((), "", False),
}
STATES = (*jobs.BUSY, jobs.WAITS, jobs.STOPPED, jobs.IDLE, jobs.UNKNOWN)


def member(number: int, state: str, where: str) -> jobs.JobMember:
    path, called, is_together = PATHS[where]
    return jobs.JobMember(number, 100 + number, state, f"{called}() under {where}", path, called, is_together)


def job(*members: tuple[str, str], size: int = 0, is_all_here: bool = False, ranked: bool = True) -> jobs.Job:
    made = tuple(member(number, *one) for number, one in enumerate(members))
    return jobs.Job(made, ranked, max(size, len(made)), is_all_here)


def test_the_rank_outside_the_collective_call_of_all_others_is_no_guess():
    found = jobs.conclude(job(*[(jobs.WAITS, "all_reduce")] * 2, (jobs.SLEEPS, "load"), (jobs.WAITS, "all_reduce")))
    assert found.sentence == (
        "ranks 0, 1 and 3 of 4 are in all_reduce() under all_reduce; rank 2 is in sleep() under load"
    )
    assert not found.is_guess


def test_waits_at_calls_that_are_not_known_to_be_of_all_make_a_guess():
    found = jobs.conclude(job((jobs.WAITS, "recv"), (jobs.RUNS, "load")))
    assert found.sentence.endswith("; a guess: stacks tell where they wait, and not for whom")
    assert [one.number for one in found.odd] == [1]


def test_all_ranks_in_one_place_are_said_to_be():
    found = jobs.conclude(job(*[(jobs.WAITS, "recv")] * 4))
    assert found.sentence == "all 4 ranks are in one place, recv() under recv; none is seen that they wait for"
    assert not found.names_somebody


def test_ranks_that_all_wait_in_different_places_accuse_nobody():
    found = jobs.conclude(job((jobs.WAITS, "recv"), (jobs.WAITS, "load"), (jobs.WAITS, "recv")))
    assert not found.names_somebody
    assert "rank 1 is in sleep() under load; none is seen that they wait for" in found.sentence


def test_a_rank_that_polls_where_others_wait_is_with_them():
    found = jobs.conclude(job((jobs.WAITS, "recv"), (jobs.MOVES, "poll"), (jobs.RUNS, "load")))
    assert [one.number for one in found.odd] == [2]


def test_beside_a_stopped_rank_no_other_one_is_named():
    found = jobs.conclude(job((jobs.WAITS, "recv"), (jobs.STOPPED, "load"), (jobs.RUNS, "load")))
    assert [one.number for one in found.odd] == [1]
    assert "rank 1 is stopped in sleep() under load" in found.sentence


def test_a_rank_without_a_process_is_gone_where_the_job_is_of_one_host():
    waiting = [(jobs.WAITS, "all_reduce")] * 3
    assert jobs.conclude(job(*waiting, size=4, is_all_here=True)).gone == (3,)
    found = jobs.conclude(job(*waiting, size=4))
    assert not found.names_somebody
    assert found.sentence.endswith("; rank 3 is not on this host, or has ended; none is seen that they wait for")


def test_of_many_ranks_all_are_told():
    found = jobs.conclude(job(*[(jobs.WAITS, "recv")] * 11, (jobs.RUNS, "load")))
    assert found.sentence.startswith("ranks 0-10 of 12 are in recv() under recv; rank 11 is in "), found.sentence


def test_of_ranks_that_run_it_is_said_where_and_that_they_may_poll():
    """Rank 3 may be late, or the only one that works while the others poll."""
    found = jobs.conclude(job(*[(jobs.RUNS, "poll")] * 3, (jobs.SLEEPS, "load")))
    assert not found.names_somebody
    assert found.sentence == (
        "ranks 0, 1 and 2 of 4 are in recv() under poll; rank 3 is in sleep() under load; a rank that waits by polling "
        "looks like one that computes"
    )


def test_processes_without_ranks_that_run_wait_for_nobody():
    assert jobs.conclude(job(*[(jobs.RUNS, "load")] * 3, (jobs.MOVES, "recv"), ranked=False)) is None
    assert jobs.conclude(job((jobs.WAITS, "recv"))) is None


def test_workers_that_wait_for_work_wait_for_nobody():
    found = jobs.conclude(job((jobs.IDLE, "recv"), (jobs.IDLE, "recv"), (jobs.RUNS, "load"), ranked=False))
    assert found is None


def test_many_places_are_folded_into_the_functions_they_have_in_common():
    paths = [(("main", "t.py:1"), ("step", f"t.py:{line}")) for line in range(12)]
    members = [
        jobs.JobMember(n, n, jobs.WAITS, f"recv() under step (t.py:{n})", path, "recv") for n, path in enumerate(paths)
    ]
    found = jobs.conclude(jobs.Job(tuple(members), True, 12))
    assert found.sentence.startswith("all 12 ranks are in one place, step(); "), found.sentence


@pytest.mark.parametrize("seed", range(300))
def test_whatever_the_stacks_are_those_that_are_named_are_not_those_that_wait(seed):
    chance = random.Random(seed)
    members = [(chance.choice(STATES), chance.choice(list(PATHS))) for _ in range(chance.randrange(10))]
    seen = job(*members, size=chance.randrange(12), is_all_here=chance.random() < 0.5, ranked=chance.random() < 0.8)
    found = jobs.conclude(seen)
    if found is None:
        return
    assert not set(found.odd) & set(found.waiting)
    assert all(one.state not in (jobs.IDLE, jobs.UNKNOWN) for one in found.odd)
    assert found.waiting or not found.names_somebody
    if found.is_guess and found.names_somebody:
        assert "a guess: " in found.sentence
    stopped = [one for one in seen.members if one.state == jobs.STOPPED]
    assert not stopped or set(found.odd) <= set(stopped)
    for one, other in itertools.product(found.odd, found.waiting):
        assert one.state in (jobs.STOPPED, jobs.WAITS) or not one.is_with(other)


@pytest.mark.parametrize("all_hosts", [False, True])
def test_a_rank_on_a_host_that_nobody_has_named_is_not_said_to_be_gone(all_hosts):
    """Hosts that have all answered are not all of the job's because of that."""
    seen = [
        facts.Facts(sight.Sight((), ()), {}, jobs.Job((member(rank, jobs.WAITS, "all_reduce"),), True, 3)).on(
            f"n{rank}"
        )
        for rank in (0, 1)
    ]
    notes = " ".join(concluded.table_of(seen, all_hosts=all_hosts).notes)
    assert ("rank 2 has no process here: gone, or not yet started" in notes) == all_hosts, notes
    assert ("rank 2 is not on a host that has answered, or has ended" in notes) != all_hosts, notes


@pytest.mark.parametrize(("silent", "is_gone"), [({}, True), ({"n9": "no answer"}, False)])
def test_a_rank_may_be_on_a_host_that_is_silent(silent, is_gone):
    ranks = [member(rank, jobs.WAITS, "all_reduce") for rank in (0, 1)]
    seen = [facts.Facts(sight.Sight((), ()), {}, jobs.Job(tuple(ranks), True, 3)).on("n1")]
    notes = " ".join(concluded.table_of(seen, silent=silent, all_hosts=True).notes)
    assert ("gone, or not yet started" in notes) == is_gone, notes

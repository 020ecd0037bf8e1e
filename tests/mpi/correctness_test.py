# SPDX-License-Identifier: Apache-2.0
"""What programs of MPI may rely on, through every door: small programs, one fact each."""

import re

import pytest
import tollbar
from mpi_jobs import open_door

SIZES = [(1, 2, 3, 5, 8), pytest.param((4, 7, 13, 16), marks=pytest.mark.deep)]
#: Every family of the catalogue that runs everywhere, and a few more. "" leaves it to tollbar.
FAMILIES = [algorithm.name for algorithm in tollbar.catalogue() if not algorithm.runs_on]
PLANS = [*FAMILIES, "dissemination:2", "central@4/dissemination", "turnstile@4/mcs", "turnstile/mcs", ""]
#: One by a word, two by many; where a fact does not depend on the plan itself.
FEW = ["", "turnstile", "dissemination", "mcs"]

#: A rank has left too early, see toll.h.
TOO_EARLY = 3


@pytest.mark.every_door
@pytest.mark.parametrize("sizes", SIZES, ids=lambda sizes: f"up-to-{max(sizes)}")
def test_nobody_leaves_before_the_last_has_entered_whoever_is_late(run, door, sizes):
    words = ",".join(map(str, sizes))
    said = run(door, max(sizes), "late_rank", words, *PLANS, TOLLBAR_VERBOSE="1").said
    for plan in filter(None, PLANS):
        ran = {int(ranks) for ranks in re.findall(rf"\((\d+) ranks\): {re.escape(plan)}\n", said)}
        assert ran >= {size for size in sizes if size > 1}, f"{plan}:\n{said}"


def test_a_barrier_that_does_nothing_fails(start, programs, door):
    nothing = programs.get("no_barrier", door.compiler)
    outcome = start(door, 4, "late_rank", "4", "", opened=["env", f"LD_PRELOAD={nothing}"]).finish()
    assert outcome.code == TOO_EARLY
    assert re.search(r"left barrier \d+ of 4 ranks before rank \d had entered it", outcome.said)


def test_messages_from_anybody_with_any_tag_are_the_programs_own(run, door):
    run(door, 4, "user_traffic", *FEW)


def test_communicators_that_overlap_or_nest_have_barriers_of_their_own(run, door):
    run(door, 7, "overlapping", *FEW)


def test_barriers_in_flight_are_completed_in_any_order(run, door):
    run(door, 4, "in_flight", *FEW)


@pytest.mark.parametrize("name", ["component", "mpich"])  # Open MPI's own MPI_Ibarrier crashes then
def test_a_communicator_is_freed_under_pending_barriers(run, name):
    run(open_door(name), 5, "freed_pending", *FEW)


def test_communicators_come_and_go_and_leave_nothing_behind(run, door):
    # MPICH's own collectives take a time slice a message when ranks outnumber processors.
    run(door, 2 if door.name == "mpich" else 4, "growth", 3000)


def test_each_thread_has_a_communicator(run, door):
    run(door, 3, "threads", *FEW)


def test_two_threads_at_barriers_of_one_communicator_come_through_as_with_the_mpis_own(run, door):
    run(door, 3, "concurrent")


def test_every_kind_of_communicator(run, door):
    run(door, 4, "kinds")


@pytest.mark.parametrize("ranks", [2, 4])
def test_who_waits_still_serves_messages_windows_and_collectives(run, door, ranks):
    run(door, ranks, "progress", *FEW)


def test_signals_and_stopped_ranks_neither_open_nor_block_a_barrier(run, door):
    run(door, 4, "interrupted", *FEW)


@pytest.mark.deep
def test_a_node_with_130_ranks(run, open_mpi_door):
    run(open_mpi_door, 130, "late_rank", 130, "")


def test_two_jobs_of_one_host_keep_apart(start, door):
    jobs = [start(door, 4, "late_rank", "2,3,4", *FEW) for _ in range(2)]
    for outcome in [job.finish() for job in jobs]:
        assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said


def test_the_wheels_have_the_same_barriers(run, wheel_door):
    said = run(wheel_door, 5, "late_rank", "1,2,3,4,5", *FEW, "turnstile", TOLLBAR_VERBOSE="1").said
    assert "(5 ranks): dissemination\n" in said
    run(wheel_door, 4, "in_flight", "")
    run(wheel_door, 4, "user_traffic", "")

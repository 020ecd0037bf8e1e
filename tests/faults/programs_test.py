# SPDX-License-Identifier: Apache-2.0
"""Programs that decide for themselves whether they end well, through every door or every preload; and barriers that
fail with the MPI's error, because the MPI fails in the middle or has lost a message."""

import re

import pytest
from mpi_jobs import DOORS, open_door, through

#: The claim, ranks, program, its words.
THROUGH_EVERY_DOOR = {
    "a barrier that works passes": (3, "late_rank", "2,3", ""),
    "a first barrier is set up while the communicator is being duplicated": (3, "duplicating"),
    "an error of no communicator goes where the program has it go": (2, "errors"),
    "ranks let go of a freed communicator at different times": (3, "freed_apart"),
    "attributes make barriers when they are deleted": (3, "freeing"),
    "ranks start two by one word in different orders": (3, "started_apart", "turnstile"),
    "ranks start two persistent barriers in different orders": (3, "started_apart", "dissemination"),
}


@pytest.mark.parametrize("what", THROUGH_EVERY_DOOR)
def test_through_every_door(run, every_door, what):
    if every_door.mpi.family == "impi" and THROUGH_EVERY_DOOR[what][1] == "started_apart":
        pytest.skip("Intel MPI 2021.19 lets ranks leave such barriers of its own early, with a preload and without")
    run(every_door, *THROUGH_EVERY_DOOR[what])


def test_functions_of_a_newer_mpi_that_a_program_finds_do_what_they_are_for(run, preload_door):
    run(preload_door, 2, "newer_names")


def test_persistent_barriers_of_an_mpi_opened_while_the_program_runs(run, programs, preload_door):
    plugin = programs.get("plugin_persistent", preload_door.compiler)
    run(preload_door, 2, "opener", plugin, TOLLBAR_VERBOSE="2")


def test_all_ranks_use_the_mpis_barrier_where_one_gets_no_channel(run, preload_door):
    said = run(preload_door, 3, "refused_channel", "dissemination", "mcs", "", TOLLBAR_VERBOSE="1").said
    assert said.count("the MPI's own barrier is used") == 3


@pytest.mark.parametrize("plan", ["", "turnstile", "dissemination"])
def test_communicators_of_sessions_have_barriers_whenever_they_are_used(run, preload_door, plan):
    if preload_door.mpi.family == "impi":
        pytest.skip("Intel MPI 2021.19 refuses MPI_Init beside a session, with a preload and without")
    said = run(preload_door, 3, "sessions", TOLLBAR_PLAN=plan, TOLLBAR_VERBOSE="2").said
    counts = [int(count) for count in re.findall(r"rank \d: (\d+) barriers", said)]
    assert len(counts) == 3, said
    assert min(counts) >= 12, said  # six of each communicator


def test_spawned_ranks_and_their_parents_have_barriers_whoever_has_tollbar(run, every_door):
    """tollbar serves each MPI_COMM_WORLD of which every rank has it, and no communicator of two of them."""
    if every_door.name == "mpich":
        pytest.skip("Debian's MPICH 4.0.2 does not come back from MPI_Comm_spawn")
    said = run(every_door, 2, "spawned", TOLLBAR_VERBOSE="1").said
    assert said.count("tollbar: MPI_COMM_WORLD (2 ranks): ") >= 1, said


# Open MPI's own crash then, with and without a preload.
@pytest.mark.parametrize("name", through(name for name in DOORS if not name.startswith("openmpi")))
def test_persistent_barriers_end_after_their_communicator_was_freed(run, name):
    run(open_door(name), 3, "freed_started", "turnstile", "dissemination", "mcs")


def leaves_with_the_error(job) -> None:
    job.await_that(lambda: " with class " in job.said(), "the end of the barrier")
    found, given = re.search(r" with class (\d+) of (\d+)", job.said()).groups()
    assert found == given, job.said()


def test_a_first_barrier_that_fails_returns_the_error_and_spoils_no_memory(start, preload_door):
    job = start(preload_door, 4, "failed_gather")
    leaves_with_the_error(job)
    assert ", 0 bytes spoilt" in job.said()


@pytest.mark.parametrize("fault", ["test", "start"])
def test_a_rank_that_lost_a_message_leaves_with_the_error(start, preload_door, fault):
    leaves_with_the_error(start(preload_door, 4, "lost_message", fault))


@pytest.mark.parametrize("call", ["barrier", "ibarrier"])
@pytest.mark.parametrize("fault", ["send", "receive", "over"])
def test_a_rank_in_the_component_that_lost_a_message_leaves_with_it(start, component_door, fault, call):
    leaves_with_the_error(start(component_door, 4, "lost_in_component", fault, call))

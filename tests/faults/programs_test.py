# SPDX-License-Identifier: Apache-2.0
"""Programs that decide for themselves whether they end well, through every door or every preload."""

import pytest

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
    run(every_door, *THROUGH_EVERY_DOOR[what])


def test_functions_of_a_newer_mpi_that_a_program_finds_do_what_they_are_for(run, preload_door):
    run(preload_door, 2, "newer_names")


def test_persistent_barriers_of_an_mpi_opened_while_the_program_runs(run, programs, preload_door):
    plugin = programs.get("plugin_persistent", preload_door.compiler)
    run(preload_door, 2, "opener", plugin, TOLLBAR_VERBOSE="2")


def test_all_ranks_use_the_mpis_barrier_where_one_gets_no_channel(run, preload_door):
    said = run(preload_door, 3, "refused_channel", "dissemination", "mcs", "", TOLLBAR_VERBOSE="1").said
    assert said.count("the MPI's own barrier is used") == 3

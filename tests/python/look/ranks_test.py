# SPDX-License-Identifier: Apache-2.0
"""Ranks of a job from stored looks: the odd ones out are named, unless somebody moves."""

from __future__ import annotations

import pytest
from sights import MAIN, sight_of, thread
from tollbar import _native
from tollbar.look import ranks

LIBRARY = "libmpi.so.40:"


def rank(number: int, call: str | None, mark: str = "", **given):
    inside = (f"{LIBRARY}", f"{LIBRARY}{call}", f"{mark}step") if call else ("compute",)
    return sight_of([thread(number, *inside, *MAIN, runs=True)], process=number, **given).threads[0]


def meeting(*threads, size=None):
    found = {each.process: (each.process, size or len(threads)) for each in threads}
    return ranks.conclude(ranks.of_threads(found, threads))


def test_the_rank_outside_is_named():
    found = meeting(rank(0, "PMPI_Allreduce"), rank(1, None), rank(2, "PMPI_Allreduce"))
    assert found.sentence == "rank 1 is in compute(); 2 of 3 are in MPI_Allreduce"


def test_a_rank_in_another_call_is_named_with_it():
    calls = ("PMPI_Bcast", "PMPI_Allreduce", "PMPI_Allreduce", "PMPI_Allreduce")
    found = meeting(*(rank(number, call) for number, call in enumerate(calls)))
    assert found.sentence == "rank 0 is in MPI_Bcast; 3 of 4 are in MPI_Allreduce"


def stopped(number: int, call: str | None):
    named = (LIBRARY, f"{LIBRARY}{call}", "step", *MAIN) if call else ("compute", *MAIN)
    return sight_of([thread(number, *named) | {"state": "T"}], process=number).threads[0]


@pytest.mark.parametrize("call", _native.collective_calls())
def test_a_rank_that_is_outside_of_any_collective_call_of_the_library_is_named(call):
    assert meeting(rank(0, f"P{call}"), rank(1, None), rank(2, f"P{call}")).sentence == (
        f"rank 1 is in compute(); 2 of 3 are in {call}"
    )


def test_calls_of_one_partner_are_not_collective_and_those_of_windows_are():
    assert meeting(rank(0, "PMPI_Send"), rank(1, None), rank(2, "PMPI_Send")) is None
    assert meeting(rank(0, "PMPI_Win_fence"), rank(1, None), rank(2, "PMPI_Win_fence")) is not None


@pytest.mark.parametrize("call", _native.calls_made_once())
def test_a_call_that_is_made_once_lasts_though_its_ranks_run_in_it(call):
    def has_stayed(call: str) -> bool:
        before, now = ([thread(0, f"{LIBRARY}P{call}", step, *MAIN, runs=True)] for step in ("!first", "!second"))
        return ranks.Rank(0, 0, 1, tuple(sight_of(now, before, process=0).threads)).stayed

    assert has_stayed(call)
    assert not has_stayed("MPI_Barrier")


def test_where_a_rank_is_stopped_no_other_is_named():
    inside = (rank(1, "PMPI_Allreduce"), rank(3, "PMPI_Allreduce"))
    found = meeting(rank(0, "PMPI_Send"), stopped(2, "PMPI_Send"), *inside)
    assert found.sentence == "rank 2 is in MPI_Send; 2 of 4 are in MPI_Allreduce"
    assert meeting(rank(0, "PMPI_Send"), stopped(2, "PMPI_Allreduce"), *inside) is None
    assert meeting(rank(0, None), stopped(2, None), *inside).odd[0].rank == 2


def test_where_a_rank_is_gone_no_other_is_named():
    there = (rank(0, "PMPI_Send"), rank(1, "PMPI_Allreduce"), rank(3, "PMPI_Allreduce"))
    job = ranks.of_threads({each.process: (each.process, 4) for each in there}, there)
    assert ranks.conclude(job, all_here=True).sentence == (
        "rank 2 has no process with an MPI in its memory; 2 of 4 are in MPI_Allreduce"
    )


def test_a_rank_whose_stack_was_read_in_part_is_not_named():
    unread = thread(1, "epoll_wait", runs=True) | {"complete": False}
    partly = sight_of([unread], process=1).threads[0]
    waiting = (rank(0, "PMPI_Init"), rank(2, "PMPI_Init"))
    assert meeting(*waiting, partly) is None
    assert meeting(*waiting, partly, rank(3, None)).sentence == "rank 3 is in compute(); 2 of 4 are in MPI_Init"


def test_what_seems_to_lie_above_syscall_names_nobody():
    waiting = (rank(0, "PMPI_Barrier"), rank(2, "PMPI_Barrier"))
    for above in (MAIN, MAIN[1:], ("step", *MAIN)):
        asleep = sight_of([thread(1, "libc.so.6:syscall", *above)], process=1).threads[0]
        assert meeting(*waiting, asleep) is None
    bare = sight_of([thread(1, "libc.so.6:poll", *MAIN[1:2])], process=1).threads[0]
    assert meeting(*waiting, bare) is None


def test_a_fortran_call_is_spelled_as_in_c():
    found = meeting(rank(0, "pmpi_barrier_"), rank(1, "mpi_barrier_"), rank(2, None))
    assert found.call == "MPI_Barrier"


def test_a_call_that_ends_in_another_function_is_known_by_that():
    found = meeting(rank(0, "ompi_mpi_finalize"), rank(1, "PMPI_Finalize"), rank(2, None))
    assert found.call == "MPI_Finalize"


def test_ranks_on_other_hosts_count_as_ranks():
    assert meeting(rank(0, "MPI_Barrier"), rank(1, None), size=64).sentence.endswith("; 1 of 64 is in MPI_Barrier")


def test_a_rank_whose_caller_has_moved_between_the_looks_accuses_nobody():
    before = [thread(0, LIBRARY, f"{LIBRARY}PMPI_Barrier", "!step", *MAIN, runs=True)]
    assert meeting(rank(0, "PMPI_Barrier", before=before), rank(1, None)) is None


def test_a_rank_that_pauses_in_a_call_made_once_stays_in_it():
    before = [thread(0, LIBRARY, f"{LIBRARY}PMPI_Init", "!step", *MAIN, switches=7)]
    assert meeting(rank(0, "PMPI_Init", before=before), rank(1, None)).odd[0].rank == 1


def test_ranks_that_wait_for_messages_accuse_nobody():
    assert meeting(rank(0, "PMPI_Recv"), rank(1, "PMPI_Recv"), rank(2, None)) is None


def test_ranks_that_are_all_in_one_call_accuse_nobody():
    assert meeting(rank(0, "PMPI_Barrier"), rank(1, "PMPI_Barrier")) is None


def in_communicators(*seen: tuple[str, int] | None):
    """Ranks in one call, each of a communicator with a name and a number; None: of one that is not known."""
    threads = []
    for number, of in enumerate(seen):
        inside = thread(number, LIBRARY, f"{LIBRARY}PMPI_Barrier", "step", *MAIN, runs=True)
        inside["communicators"] = [{"name": of[0], "number": of[1], "rank": number}] if of else []
        threads.append(sight_of([inside], process=number).threads[0])
    return meeting(*threads)


def test_the_single_rank_in_a_call_of_another_communicator_is_named():
    found = in_communicators(("MPI_COMM_WORLD", 0), ("MPI_COMM_WORLD", 0), ("rows", 3))
    assert found.sentence == "rank 2 is in MPI_Barrier of rows; 2 of 3 are in MPI_Barrier of MPI_COMM_WORLD"


def test_ranks_in_several_communicators_accuse_nobody():
    world, rows = ("MPI_COMM_WORLD", 0), ("rows", 3)
    assert in_communicators(world, rows, world, rows) is None
    assert in_communicators(world, rows) is None
    assert in_communicators(world, None, world) is None


def test_a_rank_without_a_process_is_named_where_all_are_of_this_host():
    waiting = (rank(0, "PMPI_Barrier"), rank(2, "PMPI_Barrier"))
    job = ranks.of_threads({each.process: (each.process, 3) for each in waiting}, waiting)
    assert ranks.conclude(job, all_here=False) is None
    found = ranks.conclude(job, all_here=True)
    assert found.sentence == "rank 1 has no process with an MPI in its memory; 2 of 3 are in MPI_Barrier"


def test_an_element_outside_a_call_of_openshmem_is_named():
    found = meeting(rank(0, "pshmem_barrier_all"), rank(1, None), rank(2, "shmem_barrier_all"))
    assert found.sentence == "rank 1 is in compute(); 2 of 3 are in shmem_barrier_all"

# SPDX-License-Identifier: Apache-2.0
"""Conclusions from stored looks: who is named, who is never named, and what is called a guess."""

from __future__ import annotations

from sights import GOMP, MAIN, THREAD, barrier, sight_of, thread
from tollbar.look import conclusions

PTHREAD, LIBGOMP = "pthread_barrier_t", "OpenMP barrier (libgomp)"
STD = "std::barrier (libstdc++)"
WAIT = ("libc.so.6:pthread_barrier_wait", "worker", *THREAD)
LATE = ("libc.so.6:sleep", "late", "worker", *THREAD)
JOIN = ("libc.so.6:__pthread_clockjoin_ex", *MAIN)


def waiters(count: int, arrived: int, expected: int, **given):
    return [thread(10 + i, *WAIT, at=barrier(PTHREAD, arrived, expected), **given) for i in range(count)]


def concluded(now, before=None):
    return conclusions.conclude(sight_of(now, before).threads)


def missing(now, before=None) -> list[int]:
    [one] = concluded(now, before)
    return [each.thread for each in one.missing]


def test_the_thread_that_began_where_the_waiters_began_is_missing():
    [one] = concluded(
        [*waiters(3, 3, 4), thread(20, *LATE), thread(1, *JOIN), thread(30, "libc.so.6:poll", "other", *THREAD)]
    )
    assert ([each.thread for each in one.missing], one.doubt) == ([20], "")
    assert one.sentence == (
        "pthread_barrier_t at 0x1000: 3 of 4 have arrived; not there: thread 20 (asleep, sleep() under late)"
    )


def test_main_in_join_is_never_missing():
    assert missing([*waiters(3, 3, 4), thread(1, *JOIN)]) == []


def test_a_thread_of_another_start_is_a_guess():
    [one] = concluded([*waiters(3, 3, 4), thread(1, "libc.so.6:sleep", *MAIN)])
    assert [each.thread for each in one.missing] == [1]
    assert "; a guess: " in one.sentence


def test_more_candidates_than_missing_are_a_guess():
    [one] = concluded([*waiters(3, 3, 4), thread(20, *LATE), thread(21, *LATE)])
    assert one.doubt == "1 of these 2 may be missing"


def test_nobody_is_named_where_arrived_and_waiters_differ():
    [one] = concluded([*waiters(2, 3, 5), thread(20, *LATE)])
    assert one.missing == ()
    assert "3 of 5 have arrived; 2 wait here" in one.sentence


def test_a_full_barrier_has_nobody_missing():
    assert concluded(waiters(4, 4, 4)) == []


def round_of(turn: int):
    at = barrier(PTHREAD, 3, 4, turn=turn)
    return [*(thread(10 + i, *WAIT, at=at, switches=turn) for i in range(3)), thread(20, *LATE)]


def test_waiters_of_another_round_accuse_nobody():
    assert concluded(round_of(12), round_of(8)) == []


def test_a_waiter_that_a_signal_woke_still_waits_in_its_round():
    woken = [{**each, "switches": 99} for each in round_of(8)]
    assert missing(woken, round_of(8)) == [20]


def test_a_thread_that_was_woken_at_the_last_barrier_and_has_no_processor_yet_is_not_missing():
    assert concluded([*waiters(3, 3, 4), thread(20, *WAIT, runs=True)]) == []


def test_a_waiter_that_was_not_there_before_accuses_nobody():
    assert concluded([*waiters(3, 3, 4), thread(20, *LATE)], [thread(20, *LATE)]) == []


def spinners(turn: int):
    at = barrier(LIBGOMP, 3, 4, turn=turn)
    return [thread(10 + i, GOMP[0], "f._omp_fn.0", GOMP[1], *THREAD, at=at, runs=True, switches=turn) for i in range(3)]


LATE_IN_REGION = ("libc.so.6:sleep", "f._omp_fn.0", "libgomp.so.1:GOMP_parallel", "f", *MAIN)


def test_spinning_waiters_of_one_generation_name_the_missing_master():
    assert missing([*spinners(8), thread(1, *LATE_IN_REGION)]) == [1]


def test_spinning_waiters_of_another_generation_accuse_nobody():
    late = thread(1, *LATE_IN_REGION)
    assert concluded([*spinners(16), late], [*spinners(8), late]) == []


def docked(*main: str):
    at = barrier(LIBGOMP, 3, 4)
    return [*(thread(10 + i, *GOMP, *THREAD, at=at) for i in range(3)), thread(1, *main)]


def test_idle_workers_wait_for_nobody():
    now = docked("libc.so.6:sleep", *MAIN)
    assert concluded(now) == []
    assert [each.thread for each in conclusions.idle(sight_of(now).threads)] == [10, 11, 12]


def test_a_clock_of_openmp_is_no_parallel_region():
    assert concluded(docked("libgomp.so.1:omp_get_wtime", *MAIN)) == []


def test_the_end_of_a_region_is_one():
    assert missing(docked("libc.so.6:sleep", "f._omp_fn.0", "libgomp.so.1:GOMP_parallel", *MAIN)) == [1]


def test_a_phase_of_std_barrier_that_came_round_accuses_nobody():
    at = barrier(STD, 2, 3)
    spinning = [thread(10 + i, "worker", *THREAD, at=at, runs=True) for i in range(2)]
    assert concluded([*spinning, thread(20, *LATE)]) == []


def test_threads_of_the_mpi_are_not_missing():
    progress = thread(
        30, "libc.so.6:epoll_wait", "libevent_core-2.1.so.7:event_base_loop", "libopen-pal.so.40:", *THREAD
    )
    assert missing([*waiters(3, 3, 4), progress, thread(20, *LATE)]) == [20]


OMP_WAIT = (
    "libomp.so.5:",
    "libomp.so.5:__kmpc_barrier",
    "f.omp_outlined.",
    "libomp.so.5:__kmp_invoke_microtask",
    *THREAD,
)
OMP_LATE = ("libc.so.6:sleep", "f.omp_outlined.", "libomp.so.5:__kmp_invoke_microtask", *THREAD)


def renamed(frames):
    return tuple(name.replace("f.omp_outlined.", ".omp_outlined.") for name in frames)


def test_frames_of_libomp_name_the_late_thread_as_a_guess():
    now = [*(thread(10 + i, *renamed(OMP_WAIT), runs=True) for i in range(3)), thread(20, *renamed(OMP_LATE))]
    [one] = concluded(now)
    assert [each.thread for each in one.missing] == [20]
    assert (one.arrived, one.expected) == (3, 4)
    assert "a guess: " in one.sentence


def group(missing, arrived, episode=7):
    def member(rank, behind):
        return {"rank": rank, "state": "running", "process": 40 + rank, "thread": 50 + rank, "behind": behind}

    return {
        "name": "solver", "plan": "mcs", "ranks": len(missing) + len(arrived), "episode": episode, "sentence": "",
        "missing": [member(rank, 1) for rank in missing],
        "arrived": [member(rank, 0) for rank in arrived],
    }  # fmt: skip


def test_a_group_that_went_on_between_the_looks_accuses_nobody():
    assert sight_of([], groups=[group([2], [0, 1], 8)], old_groups=[group([2], [0, 1])]).groups == ()

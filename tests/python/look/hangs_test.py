# SPDX-License-Identifier: Apache-2.0
"""A wait is no longer believed when its report comes again, or when nothing has moved from look to look."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import pytest
from sights import MAIN, THREAD, barrier, sight_of, thread
from tollbar.look import hangs, processes


@dataclass
class Missing:
    """A report, as the native module has it."""

    wait: str
    waited_s: float
    named: list[int] = field(default_factory=lambda: [1])
    about: str = "a barrier"
    arrived: list[int] = field(default_factory=list)
    lacking: int = 0

    @property
    def text(self) -> str:
        return f"{self.about}, {self.wait} has waited {self.waited_s} s: {self.named}"


def at_barrier_of_threads(waited_s: float) -> Missing:
    return Missing("by 1 thread 5", waited_s, [], "pthread_barrier_wait at ./late+0x1", [5, 6, 7], 1)


def of_ranks(barrier: int, waited_s: float, named: int = 2) -> Missing:
    about = f"MPI_COMM_WORLD (4 ranks), barrier {barrier}"
    return Missing(f"by 7 rank 0 on vm {about}", waited_s, [named], about)


def believed(*reported: tuple[float, Missing]) -> bool:
    reports = hangs.Reports(timeout_s=10)
    again = [reports.add(report, clock) for clock, report in reported]
    return not any(again)


def test_a_report_that_comes_again_after_a_further_time_out_is_a_hang():
    reports = hangs.Reports(timeout_s=10)
    first, *again = [reports.add(of_ranks(2, waited), waited) for waited in (10.0, 20.0, 30.0)]
    assert first is None
    assert len(set(again)) == 1
    assert reports.sentences(again) == [of_ranks(2, 30.0).text]


def test_another_episode_is_another_wait():
    assert believed(*((10.0 * n, of_ranks(n, 10.0)) for n in range(1, 20)))


def test_a_wait_that_begins_again_is_another_wait_where_episodes_have_no_number():
    assert believed(*((15.0 * n, at_barrier_of_threads(10.0)) for n in range(1, 20)))
    assert not believed((10, at_barrier_of_threads(10.0)), (20, at_barrier_of_threads(20.0)))


def test_a_wait_at_a_numbered_call_is_the_same_whoever_has_seen_it_for_how_long():
    """On a busy machine a watcher forgets what it saw before it was not run for a while."""
    reports = hangs.Reports(timeout_s=10)
    told = [Missing("at 5 7", 20.0), Missing("at 5 7", 12.0), Missing("at 6 7", 10.0)]
    again = [reports.add(each, 10.0 * turn) for turn, each in enumerate(told)]
    assert [key is not None for key in again] == [False, True, False]  # the last one is of another communicator
    assert reports.sentences(again[1:2]) == [told[1].text]


def test_a_wait_for_a_message_is_the_same_as_long_as_its_call_is():
    reports = hangs.Reports(timeout_s=10)
    told = [("in 0 0 5", 20.0), ("in 0 0 5", 12.0), ("in 0 0 7", 30.0), ("in 0 0 7", 11.0)]
    again = [reports.add(Missing(*each), 10.0 * turn) for turn, each in enumerate(told)]
    assert [key is not None for key in again] == [False, True, False, True]  # the third is another call's


def test_a_wait_of_ranks_in_which_others_are_missing_meanwhile_is_believed():
    reports = hangs.Reports(timeout_s=10)
    told = [Missing("at 5 7", 10.0, [2, 3]), Missing("at 5 7", 20.0, [3]), Missing("at 5 7", 30.0, [3])]
    again = [reports.add(each, 10.0 * turn) for turn, each in enumerate(told)]
    assert [key is not None for key in again] == [False, False, True]


def test_a_wait_in_which_others_are_missing_meanwhile_is_believed():
    assert believed((10, of_ranks(7, 10.0)), (20, of_ranks(7, 20.0, named=3)))


def test_a_wait_in_which_other_threads_have_arrived_meanwhile_is_believed():
    later = at_barrier_of_threads(20.0)
    later.arrived = [5, 6, 8]
    assert believed((10, at_barrier_of_threads(10.0)), (20, later))


def test_a_barrier_of_threads_hangs_beside_a_slow_one_that_is_called_from_the_same_place():
    def other(thread: int) -> Missing:
        return Missing(f"by 1 thread {thread}", 10.0, [], "pthread_barrier_wait at ./late+0x1", [thread], 1)

    slow = [(clock, other(thread)) for clock, thread in ((11, 8), (16, 9), (19, 8))]
    hung = [(10, at_barrier_of_threads(10.0)), *slow, (20, at_barrier_of_threads(20.0))]
    assert not believed(*hung)
    assert believed(*hung[:-1])


def test_a_report_that_comes_again_at_once_is_believed_until_the_next():
    """After the whole job was stopped: its clocks went on, and nobody had the time to arrive."""
    reported = [(10.0, at_barrier_of_threads(10.0)), (10.1, at_barrier_of_threads(20.0))]
    assert believed(*reported)
    assert not believed(*reported, (20.1, at_barrier_of_threads(30.0)))


def test_a_wait_at_a_barrier_where_another_has_begun_meanwhile_is_believed():
    """Rank 2 waits for rank 0, which has heard from its slow ranks one after another."""

    def report(rank: int, waited_s: float) -> Missing:
        return Missing(f"by 7 rank {rank}", waited_s, [1 - rank // 2], "MPI_COMM_WORLD (3 ranks), its first barrier")

    reported = [(10, report(2, 10.0)), (11, report(0, 10.0)), (19, report(0, 9.9)), (20, report(2, 20.0))]
    assert believed(*reported)
    assert not believed(*reported, (30, report(2, 30.0)))


def test_a_wait_is_over_when_ranks_wait_in_a_later_call_of_the_communicator():
    reports = hangs.Reports(timeout_s=10)
    reports.add(Missing("at a 3", 10.0), 10)
    again = reports.add(Missing("at a 3", 20.0), 20)
    reports.add(Missing("at b 4", 10.0), 20)  # of another communicator
    reports.add(Missing("in 0 0 4", 10.0), 20)  # of none
    assert again in reports.since(0)
    assert reports.over == set()
    reports.add(Missing("at a 4", 10.0), 35)
    assert again not in reports.since(0)
    assert reports.over == {again}


def test_reports_of_several_waiters_of_a_barrier_stand_beside_each_other():
    def report(host: str, waited_s: float) -> Missing:
        about = "MPI_COMM_WORLD (8 ranks), barrier 5"
        return Missing(f"by 7 rank 0 on {host} {about}", waited_s, [3], about)

    reports = hangs.Reports(timeout_s=10)
    for host in ("n1", "n2"):
        reports.add(report(host, 10.1), 10)
    again = [reports.add(report(host, 20.1), 20) for host in ("n1", "n2")]
    assert reports.sentences(again) == [" | ".join(report(host, 20.1).text for host in ("n1", "n2"))]


def test_the_thread_that_a_report_does_not_name_is_found_among_those_of_the_process():
    threads = [thread(n, "libc.so.6:pthread_barrier_wait", "worker", *THREAD) for n in (11, 12)]
    threads += [thread(13, "libc.so.6:sleep", "worker", *THREAD), thread(10, "libc.so.6:pthread_join", *MAIN)]
    seen = sight_of(threads).threads

    def absent(*arrived: int) -> str | None:
        return hangs.absent(Missing("by 1 thread 11", 1.0, [], arrived=list(arrived), lacking=1), seen)

    assert absent(11, 12) == "not there: thread 13 (asleep, sleep() under worker)"
    assert absent(11) == (
        "not there: thread 12 (asleep, pthread_barrier_wait() under worker), "
        "thread 13 (asleep, sleep() under worker); a guess: 1 of these 2 may be missing"
    )
    assert absent(11, 99) is None
    assert absent() is None


FUTEX, FOREVER = 202, [4096, 0x189, 0, 0, 0, 0xFFFFFFFF]


def lock(number: int, **changed) -> dict:
    return thread(number, "libc.so.6:sem_wait", "acquire", *THREAD) | {"call": FUTEX, "arguments": FOREVER} | changed


def parent() -> dict:
    return thread(1, "wait4", *MAIN) | {"call": 61}


def looks(*each: list[dict] | dict[int, list[dict]]) -> list[str]:
    """Sentences of the last of such looks: at threads of process 1, or at those of it and what it has started."""
    watched = hangs.Looks(by_launcher=False)
    for seen in each:
        job = seen if isinstance(seen, dict) else {1: seen}
        there = {number: processes.Process(number, number > 1, "a.out", ()) for number in job}
        look = {"processes": [{"process": each, "threads": threads} for each, threads in job.items()], "groups": []}
        said = watched.add({"looks": [look, copy.deepcopy(look)]}, {}, there)
    return said


def test_threads_that_all_wait_for_locks_without_a_limit_hang():
    job = [parent(), lock(2), lock(3)]
    assert looks(job) == []
    [said] = looks(job, job)
    assert said.startswith("no thread is left that could wake another: thread 2 (sem_wait() under acquire), thread 3")


@pytest.mark.parametrize(
    "changed",
    [
        {"switches": 2},
        {"arguments": [4096, 0x189, 0, 8192, 0, 0]},  # with a limit
        {"arguments": [4096, 0x109, 0, 0, 0, 0]},  # shared with other processes
        {"state": "T"},
        {"call": 232},  # epoll_wait
        {"call": -2, "state": "R"},
    ],
    ids=["woke", "limit", "shared", "stopped", "outside", "runs"],
)
def test_a_job_in_which_one_thread_may_go_on_does_not_hang(changed):
    quiet, moved = [parent(), lock(2), lock(3)], [parent(), lock(2), lock(3, **changed)]
    assert looks(quiet, moved) == []
    if "switches" not in changed:
        assert looks(moved, moved) == []


def job_of(*, starter: int = 1, worker: int = 1, second: int = 1, stopped: str = "T") -> dict[int, list[dict]]:
    """Process 1 has started 2 to 4, of which 3 may be stopped; how often one of each kind has woken."""
    waiting = {"call": 45}  # recvfrom
    polls = thread(9, "libc.so.6:epoll_wait", *THREAD, switches=second)
    worker_2 = [thread(2, "libc.so.6:recv", *MAIN, switches=worker) | waiting, polls]
    others = {number: [thread(number, "libc.so.6:recv", *MAIN) | waiting] for number in (3, 4)}
    others[3][0] |= {"state": stopped}
    return {1: [thread(1, "libc.so.6:sleep", *MAIN, switches=starter)], 2: worker_2, **others}


def test_a_process_that_stays_stopped_while_no_other_moves_is_a_hang():
    [said] = looks(job_of(), job_of(starter=2, second=2))
    assert said == "process 3 is stopped in recv() under main; 3 of 4 are not stopped"


@pytest.mark.parametrize(
    "now", [job_of(worker=2), job_of(stopped="S")], ids=["another worker has moved", "it has gone on"]
)
def test_a_stopped_process_beside_which_something_goes_on_is_no_hang(now):
    assert looks(job_of(), now) == []


def test_a_program_that_is_stopped_as_a_whole_is_no_hang():
    alone = {1: [parent()], 2: [thread(2, "libc.so.6:recv", *MAIN) | {"state": "T"}]}
    assert looks(alone, alone) == []


def test_a_thread_that_has_come_is_progress():
    assert looks([lock(2)], [lock(2), lock(3)]) == []


def at_barrier(number: int, **changed) -> dict:
    at = barrier("pthread_barrier_t", arrived=2, expected=3)
    return thread(number, "libc.so.6:pthread_barrier_wait", "worker", *THREAD, at=at) | changed


def test_waiters_at_a_barrier_that_slept_from_look_to_look_hang():
    late = thread(4, "libc.so.6:pause", "worker", *THREAD) | {"call": 34}
    job = [thread(1, "libc.so.6:pthread_join", *MAIN), at_barrier(2), at_barrier(3), late]
    [said] = looks(job, job)
    assert said.endswith("2 of 3 have arrived; not there: thread 4 (asleep, pause() under worker)")
    assert looks(job, [*job[:2], at_barrier(3, switches=2), late]) == []


def test_a_guess_ends_no_job():
    late = [thread(n, "libc.so.6:pause", "worker", *THREAD) | {"call": 34} for n in (4, 5)]
    job = [thread(1, "libc.so.6:pthread_join", *MAIN), at_barrier(2), at_barrier(3), *late]
    assert looks(job, job) == []

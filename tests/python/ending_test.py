# SPDX-License-Identifier: Apache-2.0
"""Daemon threads are in calls of the module while Python ends: the process ends as if they were in none."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading, time
import tollbar

THREADS = 4
sys.setswitchinterval(1e-5)
plan = tollbar.plan("dissemination", 64)


def act():
    sum(range(300))


def timed_out(rank):
    barrier = tollbar.Barrier(2)
    try:
        barrier.wait(0.0005)
    except tollbar.BarrierTimeout:
        pass


def of(barrier, *words):
    return lambda rank: barrier.wait(*words)


def of_group(wait):
    group = tollbar.Group(THREADS)
    joined = [group.join(rank) for rank in range(THREADS)]
    return lambda rank: wait(joined[rank])


def in_steps(participant):
    participant.arrive()
    while not participant.wait_for(0.001):
        pass


CALLS = {
    "plain": lambda: of(tollbar.Barrier(THREADS)),
    "timed": lambda: of(tollbar.Barrier(THREADS), 60),
    "action": lambda: of(tollbar.Barrier(THREADS, act)),
    "timed_out": lambda: timed_out,
    "processes": lambda: of(tollbar.process_barrier(THREADS)),
    "action_of_processes": lambda: of(tollbar.process_barrier(THREADS, act), 60),
    "group": lambda: of_group(lambda participant: participant.arrive_and_wait()),
    "timed_group": lambda: of_group(in_steps),
    "proof": lambda: lambda rank: tollbar.verify(plan),
}
call = CALLS[sys.argv[1]]()


def for_ever(rank):
    while True:
        call(rank)


for rank in range(THREADS):
    threading.Thread(target=for_ever, args=(rank,), daemon=True).start()
time.sleep(0.01)
"""

KINDS = ("plain", "timed", "action", "timed_out", "processes", "action_of_processes", "group", "timed_group", "proof")


def endings(kind: str, runs: int) -> set[int]:
    return {subprocess.run([sys.executable, "-c", PROGRAM, kind], timeout=60).returncode for _ in range(runs)}


@pytest.mark.parametrize("kind", KINDS)
def test_python_ends_while_daemon_threads_are_in_calls(kind):
    assert endings(kind, 3) == {0}


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
def test_python_ends_two_hundred_times_while_daemon_threads_are_in_calls(kind):
    assert endings(kind, 200) == {0}

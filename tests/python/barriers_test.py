# SPDX-License-Identifier: Apache-2.0
"""tollbar.Barrier and process_barrier keep what threading.Barrier and multiprocessing.Barrier promise."""

import _thread
import gc
import math
import multiprocessing
import pickle
import re
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
import tollbar
from needs import left_out
from process_parties import PHASES, meet

ROOT = Path(__file__).resolve().parents[2]


def in_threads(count: int, body) -> list:
    """The results of `body(number)`, or what it raises, in each thread."""
    results: list = [None] * count

    def run(number: int) -> None:
        try:
            results[number] = body(number)
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,), name=f"party {number}") for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def wait_until(condition) -> None:
    """A hang is ended by the time limit of the tests."""
    while not condition():
        threading.Event().wait(0.001)


@pytest.mark.parametrize("parties", [1, 2, 3, 8])
def test_nobody_leaves_before_all_have_paid(parties):
    barrier = tollbar.Barrier(parties)
    paid = [[0] * parties, [0] * parties]

    def body(number: int) -> int:
        unpaid = 0
        for phase in range(1, PHASES + 1):
            paid[phase % 2][number] = phase
            barrier.wait()
            unpaid += sum(toll != phase for toll in paid[phase % 2])
        return unpaid

    assert in_threads(parties, body) == [0] * parties


@pytest.mark.parametrize("action", [None, lambda: None])
def test_each_phase_gives_every_number_once_and_the_last_to_arrive_the_highest(action):
    barrier = tollbar.Barrier(3, action)
    numbers = in_threads(3, lambda _: [barrier.wait() for _ in range(PHASES)])
    assert {frozenset(phase) for phase in zip(*numbers, strict=True)} == {frozenset({0, 1, 2})}


def test_one_thread_runs_the_action_before_anybody_is_released():
    runs = []
    barrier = tollbar.Barrier(3, lambda: runs.append(threading.current_thread().name))

    def body(_: int) -> bool:
        return all(barrier.wait() >= 0 and len(runs) >= phase for phase in range(1, PHASES + 1))

    assert in_threads(3, body) == [True] * 3
    assert len(runs) == PHASES


def test_an_action_that_raises_breaks_the_barrier_and_raises_in_its_thread():
    barrier = tollbar.Barrier(3, lambda: 1 // 0)
    raised = in_threads(3, lambda _: barrier.wait())
    assert sorted(type(error).__name__ for error in raised) == ["BrokenBarrierError"] * 2 + ["ZeroDivisionError"]
    assert barrier.broken
    barrier.reset()
    assert not barrier.broken


def test_a_thread_that_comes_while_the_action_runs_belongs_to_the_next_phase():
    runs, may_end = threading.Event(), threading.Event()

    def action() -> None:
        runs.set()
        may_end.wait()

    barrier = tollbar.Barrier(1, action)
    first = threading.Thread(target=barrier.wait)
    first.start()
    runs.wait()
    second = threading.Thread(target=barrier.wait)
    second.start()
    may_end.set()
    first.join()
    second.join()
    assert not barrier.broken


def test_a_time_out_breaks_the_barrier_and_names_who_had_come():
    barrier = tollbar.Barrier(3)
    error = in_threads(1, lambda _: barrier.wait(0.01))[0]
    assert isinstance(error, tollbar.BarrierTimeout)
    assert isinstance(error, threading.BrokenBarrierError)
    assert error.present == ("party 0",)
    assert str(error) == "2 of 3 parties had not arrived after 0.01 s; waiting: party 0"
    assert barrier.broken
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait()


def test_the_barriers_own_time_out_counts_where_a_wait_has_none():
    with pytest.raises(tollbar.BarrierTimeout, match=r"after 0.01 s"):
        tollbar.Barrier(2, timeout=0.01).wait()
    with pytest.raises(tollbar.BarrierTimeout, match=r"after 0 s"):
        tollbar.Barrier(2, timeout=100).wait(0)


@pytest.mark.parametrize(("call", "broken"), [("abort", True), ("reset", False)])
def test_abort_and_reset_let_waiters_go_with_an_error(call, broken):
    barrier = tollbar.Barrier(3)

    def body(number: int) -> int:
        if number == 2:
            wait_until(lambda: barrier.n_waiting == 2)
            return getattr(barrier, call)()
        return barrier.wait()

    first, second, _ = in_threads(3, body)
    assert type(first) is type(second) is threading.BrokenBarrierError
    assert barrier.broken is broken
    assert barrier.n_waiting == 0
    barrier.reset()
    assert sorted(in_threads(3, lambda _: barrier.wait())) == [0, 1, 2]


def test_ctrl_c_ends_the_wait_of_the_main_thread_and_it_was_never_there(request):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    barrier = tollbar.Barrier(2)

    def interrupt() -> None:
        wait_until(lambda: barrier.n_waiting == 1)
        _thread.interrupt_main()

    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        barrier.wait()
    other.join()
    assert barrier.n_waiting == 0
    assert not barrier.broken
    assert sorted(in_threads(2, lambda _: barrier.wait())) == [0, 1]


#: The interpreter ends for 0.2 s while a daemon waits.
DAEMON = """
import threading, time, tollbar
class Slow:
    sleep = staticmethod(time.sleep)
    def __del__(self):
        self.sleep(0.2)
slow = Slow()
barrier = tollbar.Barrier(2)
threading.Thread(target=barrier.wait, daemon=True).start()
while barrier.n_waiting == 0:
    time.sleep(0.001)
"""


def test_a_daemon_that_waits_does_not_disturb_the_end_of_the_program():
    done = subprocess.run([sys.executable, "-c", DAEMON], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_wrong_parties_are_refused_and_the_text_tells_the_state():
    for parties in (0, -1, 1 << 20):
        with pytest.raises(ValueError, match="a barrier has 1 to 1048575 parties"):
            tollbar.Barrier(parties)
    barrier = tollbar.Barrier(2)
    assert repr(barrier).endswith(": waiters=0/2>")
    barrier.abort()
    assert repr(barrier).endswith(": broken>")


def test_a_barrier_of_threads_is_not_pickled_and_says_what_is():
    with pytest.raises(TypeError, match="process_barrier"):
        pickle.dumps(tollbar.Barrier(2))


def test_a_barrier_whose_action_holds_it_is_collected():
    class Owner:
        def __init__(self) -> None:
            self.barrier = tollbar.Barrier(1, self.act)

        def act(self) -> None:
            pass

    owner = Owner()
    owner.barrier.wait()
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_processes_meet_however_they_are_started(start):
    context = multiprocessing.get_context(start)
    parties = 3
    barrier = tollbar.process_barrier(parties)
    paid, unpaid = context.RawArray("l", 2 * parties), context.RawArray("l", parties)
    processes = [
        context.Process(target=meet, args=(barrier, paid, number, parties, unpaid)) for number in range(parties)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * parties
    assert list(unpaid) == [0] * parties
    assert max(paid) == PHASES


def break_it(barrier, code) -> None:
    try:
        barrier.wait()
    except threading.BrokenBarrierError:
        code.value = 3


def test_a_time_out_in_one_process_breaks_the_barrier_for_the_others():
    context = multiprocessing.get_context("fork")
    barrier, code = tollbar.process_barrier(3), context.RawValue("i", 0)
    child = context.Process(target=break_it, args=(barrier, code))
    child.start()
    wait_until(lambda: barrier.n_waiting == 1)
    with pytest.raises(tollbar.BarrierTimeout, match=f"1 of 3 parties .* waiting: process {child.pid}, process"):
        barrier.wait(0.01)
    child.join()
    assert code.value == 3


def test_a_process_barrier_is_pickled_only_for_a_process_that_is_being_started():
    with pytest.raises(RuntimeError):
        pickle.dumps(tollbar.process_barrier(2))


def test_a_group_of_ranks_meets_in_split_phases():
    with tollbar.Group(3, plan="dissemination") as group:
        assert (group.ranks, group.plan) == (3, "dissemination")

        def body(rank: int) -> tuple:
            with group.join(rank) as self:
                for _ in range(PHASES):
                    self.arrive_and_wait()
                self.arrive()
                self.wait()
                return self.rank, self.test.__name__

        assert in_threads(3, body) == [(rank, "test") for rank in range(3)]


def test_a_rank_that_waits_alone_knows_who_is_missing_and_may_wait_again():
    group = tollbar.Group(2, plan="central")
    with group.join(0) as first, group.join(1) as second:
        first.arrive()
        assert not first.test()
        assert not first.wait_for(0.001)
        assert first.missing() == group.missing() == [1]
        second.arrive()
        assert first.wait_for(10)
        second.wait()


def test_calls_of_a_rank_out_of_order_are_errors_not_hangs():
    group = tollbar.Group(2)
    self = group.join(0)
    for call in (self.wait, self.test, lambda: self.wait_for(1)):
        with pytest.raises(RuntimeError, match="has not arrived"):
            call()
    self.arrive()
    with pytest.raises(RuntimeError, match="has arrived already"):
        self.arrive()
    self.leave()
    with pytest.raises(RuntimeError, match="has left"):
        self.missing()
    with pytest.raises(ValueError, match=r"rank 2 is not one of 0\.\.1"):
        group.join(2)
    with pytest.raises(ValueError, match="ranks, not 0"):
        tollbar.Group(0)


#: In place of threading.Barrier and, for processes made by fork, of multiprocessing.Barrier.
CPYTHON = """
import multiprocessing.context, sys, test, unittest
test.__path__ = [sys.argv.pop(1)]
import tollbar
from test import _test_multiprocessing, lock_tests
multiprocessing.context.BaseContext.Barrier = lambda _, *given: tollbar.process_barrier(*given)
_test_multiprocessing.install_tests_in_module_dict(globals(), "fork")
class Threads(lock_tests.BarrierTests):
    barriertype = staticmethod(tollbar.Barrier)
class Processes(lock_tests.BarrierTests):
    barriertype = staticmethod(tollbar.process_barrier)
    test_repr = None
wanted = ("__main__.Threads", "__main__.Processes", "WithProcessesTestBarrier")
unittest.main(argv=["barriers", *(f"-k{name}" for name in wanted)])
"""


def cpythons_tests() -> Path | None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    places = [Path(f"/usr/lib/python{version}/test"), Path(f"{sys.base_prefix}/lib/python{version}/test")]
    places += sorted(Path.home().glob(f".pyenv/versions/{version}.*/lib/python{version}/test"))
    return next((place for place in places if (place / "lock_tests.py").exists()), None)


@pytest.mark.deep
def test_cpythons_own_tests_of_barriers_pass():
    if (folder := cpythons_tests()) is None:
        left_out("CPython's tests are not installed (Debian: libpython3.11-testsuite)")
    command = [sys.executable, "-c", CPYTHON, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    # 13 of threads, all but one on a process's barrier as well, 11 of processes: fewer in older versions.
    assert int(re.search(r"Ran (\d+) tests", done.stderr)[1]) >= 30


def test_signal_handlers_of_the_main_thread_run_while_it_waits():
    barrier = tollbar.Barrier(2)
    came = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: came.set())

    def other() -> None:
        wait_until(lambda: barrier.n_waiting == 1)
        signal.raise_signal(signal.SIGUSR1)
        came.wait()
        barrier.wait()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        barrier.wait()
    finally:
        signal.signal(signal.SIGUSR1, before)
        thread.join()
    assert came.is_set()


@pytest.mark.parametrize("make", [tollbar.Barrier, tollbar.process_barrier])
def test_a_time_out_that_is_no_number_is_refused_as_threading_refuses_it(make):
    for barrier in (make(2), make(2, timeout=math.nan)):
        with pytest.raises(ValueError, match="not nan"):
            barrier.wait(math.nan if barrier._timeout is None else None)
        assert (barrier.n_waiting, barrier.broken) == (0, False)
    participant = tollbar.Group(2).join(0)
    participant.arrive()
    with pytest.raises(ValueError, match="not nan"):
        participant.wait_for(math.nan)
    assert not participant.test()

# SPDX-License-Identifier: Apache-2.0
"""Commands that run in one session of their own."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from tollbar.machine import session_leader
from tollbar.machine.session import Session, SessionEnded

ASK = [sys.executable, "-c", "import os; print(os.getsid(0))"]


def test_all_commands_run_in_one_session_that_is_not_ours(tmp_path):
    with Session(tmp_path) as own:
        first, second = (own.run(ASK, limit_s=60).output for _ in range(2))
    assert first == second
    assert int(first) != os.getsid(0)


def test_output_errors_and_exit_code_come_back(tmp_path):
    with Session(tmp_path) as own:
        done = own.run(["sh", "-c", "echo said; echo wrong >&2; exit 3"], limit_s=60)
    assert (done.output, done.errors, done.exit_code) == ("said\n", "wrong\n", 3)


def test_a_command_that_runs_too_long_is_ended(tmp_path):
    with Session(tmp_path) as own:
        assert own.run(["sleep", "600"], limit_s=0.1).exit_code is None
        assert own.run(["true"], limit_s=60).exit_code == 0


def test_a_command_that_is_not_there_says_so(tmp_path):
    with Session(tmp_path) as own:
        done = own.run([str(tmp_path / "nothing")], limit_s=60)
    assert done.exit_code == 127
    assert "No such file" in done.errors


def test_a_command_sees_the_environment_it_is_given(tmp_path):
    with Session(tmp_path) as own:
        done = own.run(["/bin/sh", "-c", "echo $COLOUR$HOME"], 60, {"COLOUR": "green"})
    assert done.output == "green\n"


def test_a_leader_that_has_ended_is_named_by_whoever_asks_it_next(tmp_path):
    with Session(tmp_path) as own:
        os.kill(own._leader.pid, signal.SIGKILL)
        own._leader.wait()
        for _ in range(2):
            with pytest.raises(SessionEnded, match="has ended"):
                own.run(["true"], limit_s=60)


def test_nothing_is_left_running_after_an_interruption(tmp_path):
    own = Session(tmp_path)
    with contextlib.suppress(KeyboardInterrupt), own:
        leader = own._leader.pid
        raise KeyboardInterrupt
    with pytest.raises(ProcessLookupError):
        os.killpg(leader, 0)


def runs(process: int) -> bool:
    """Whether it does anything; one that has ended may not have been waited for yet."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_neighbours_run_in_the_session_as_long_as_it_lasts(tmp_path):
    with Session(tmp_path, neighbours=2) as own:
        assert "2 endless loops" in own.autogroup
        children = own.run(["ps", "-o", "pid=,args=", "--ppid", str(own._leader.pid)], limit_s=60).output
        loops = [int(line.split()[0]) for line in children.splitlines() if "while True" in line]
        assert len(loops) == 2
        assert {os.getsid(loop) for loop in loops} == {own._leader.pid}
    limit = time.monotonic() + 60
    while any(map(runs, loops)):  # they were asked to end, and end when they have a processor
        assert time.monotonic() < limit
        time.sleep(0.01)


def priority(autogroup: str) -> str:
    """As in /proc/PID/autogroup, where a process in no group of its own reads nothing."""
    return (autogroup.split() or ["0"])[-1]


def test_a_plain_session_is_not_put_first(tmp_path):
    switch = Path("/proc/sys/kernel/sched_autogroup_enabled")
    with Session(tmp_path, first=False) as own:
        assert own.autogroup == "one plain session for all"
        told = own.run(["cat", "/proc/self/autogroup"], limit_s=60).output
    if switch.exists() and switch.read_text().strip() == "1":
        assert priority(told) == priority(Path("/proc/self/autogroup").read_text())


def test_the_session_says_whether_it_was_put_first(tmp_path):
    on, off, own = tmp_path / "on", tmp_path / "off", tmp_path / "autogroup"
    on.write_text("1\n")
    off.write_text("0\n")
    assert session_leader.put_first(tmp_path / "nothing", own) == "this kernel has no autogroups"
    assert session_leader.put_first(off, own) == "autogroups are off"
    assert "put before the others" in session_leader.put_first(on, own)
    assert own.read_text() == "-20"
    assert "not put before the others" in session_leader.put_first(on, tmp_path / "no" / "autogroup")


class Told(Exception):
    pass


@pytest.fixture
def told_soon():
    """A signal comes whose handler has calls of the kernel go on, as libraries install them."""

    def tell(*_):
        raise Told

    former = signal.signal(signal.SIGALRM, tell)
    signal.siginterrupt(signal.SIGALRM, False)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    yield
    signal.signal(signal.SIGALRM, former)


def test_a_signal_is_heard_while_a_command_runs(tmp_path, told_soon):
    began = time.monotonic()
    with pytest.raises(Told), Session(tmp_path) as own:
        own.run(["sleep", "600"], limit_s=300)
    assert time.monotonic() - began < 100


def test_what_a_command_leaves_behind_is_ended_with_it(tmp_path):
    with Session(tmp_path) as own:
        done = own.run(["sh", "-c", "setsid sleep 600 & echo $!"], limit_s=60)
        assert not runs(int(done.output))
        assert own.run(["true"], limit_s=60).exit_code == 0


def test_what_a_command_that_runs_too_long_has_started_ends_too(tmp_path):
    with Session(tmp_path) as own:
        script = "setsid sleep 600 & echo $!; wait"
        done = own.run(["timeout", "600", "sh", "-c", script], limit_s=0.5)
        assert done.exit_code is None
        assert not runs(int(done.output))

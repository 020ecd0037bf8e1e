# SPDX-License-Identifier: Apache-2.0
"""Whatever was started is ended, whoever stood in between."""

import os
import signal
import subprocess
import sys

import pytest
from tollbar import children

#: Starts one that starts one in a session of its own, ends, and leaves it behind; says who it is.
LEAVES = ["sh", "-c", "setsid sleep 600 & echo $!"]
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"


def runs(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_who_was_left_behind_is_ended():
    with children.none_left():
        words = [*LEAVES[:2], LEAVES[2].replace("&", ">/dev/null &", 1)]
        left = int(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout)
        assert left in children.living(os.getpid())
    assert not runs(left)


def test_who_does_not_listen_is_killed_and_who_was_here_before_is_not():
    before = subprocess.Popen(["sleep", "600"])
    with children.none_left():
        deaf = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
        assert deaf.stdout
        deaf.stdout.readline()
    assert deaf.wait(60) == -signal.SIGKILL
    assert before.poll() is None
    before.kill()
    before.wait()


def test_a_job_that_was_started_before_goes_on_with_what_it_starts_meanwhile():
    job = subprocess.Popen(["sh", "-c", "read _; sleep 600 & echo $!; wait"], stdin=-1, stdout=-1, text=True)
    assert job.stdin
    assert job.stdout
    with children.none_left():
        job.stdin.write("\n")
        job.stdin.flush()
        started = int(job.stdout.readline())
    assert runs(started)
    assert job.poll() is None
    os.kill(started, signal.SIGKILL)
    job.communicate()


def test_who_was_released_goes_on():
    with children.none_left():
        daemon = subprocess.Popen(["sleep", "600"])
        children.release(daemon.pid)
    assert daemon.poll() is None
    daemon.kill()
    daemon.wait()


def test_a_command_gives_its_output_though_somebody_keeps_it_open():
    done = children.run(LEAVES)
    assert done.exit_code == 0
    assert not runs(int(done.output))


def test_a_command_has_a_limit():
    done = children.run(["sh", "-c", "echo said; echo wrong >&2; exec sleep 600"], limit_s=0.5)
    assert done == (None, "said\n", "wrong\n")


def test_a_signal_that_comes_while_others_end_is_heard_afterwards():
    tells = "import os, signal, time; signal.signal(15, lambda *_: os.kill(os.getppid(), signal.SIGINT)); "
    deaf = subprocess.Popen([sys.executable, "-c", f"{tells}print(flush=True)\nwhile True: time.sleep(1)"], stdout=-1)
    assert deaf.stdout
    deaf.stdout.readline()
    with pytest.raises(KeyboardInterrupt):
        children.end(os.getpid())
    assert deaf.wait(60) == -signal.SIGKILL


def test_a_command_that_is_silent_has_another_limit_than_one_that_has_spoken():
    assert children.run(["sleep", "600"], silent_s=0.3).exit_code is None
    assert children.run(["sh", "-c", "echo said; sleep 1"], silent_s=0.3) == (0, "said\n", "")

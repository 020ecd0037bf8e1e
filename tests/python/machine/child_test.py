# SPDX-License-Identifier: Apache-2.0
"""A command that runs as our child ends, stops and is told things as it would be in our place."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LIMIT_S = 60

#: Runs the rest of its words as `tollbar run --on-hang` does.
BESIDE = """
import sys
from tollbar.machine import child
with child.Child(sys.argv[1:], {}) as own:
    while own.wait(0.05): pass
child.end_as(own.code)
"""


def beside(*words, **settings):
    command = [sys.executable, "-c", BESIDE, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings)


def state_of(process):
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def await_that(happened, what):
    end = time.monotonic() + LIMIT_S
    while not happened():
        assert time.monotonic() < end, what
        time.sleep(0.01)


ENDS = ["exit 0", "exit 255", *(f"kill -{name} $$" for name in ("KILL", "TERM", "USR1", "SEGV", "PIPE"))]


@pytest.mark.parametrize("script", ENDS)
def test_it_ends_as_the_command_does(script):
    stock = subprocess.run(["sh", "-c", script]).returncode
    with beside("sh", "-c", script) as running:
        assert running.wait(LIMIT_S) == stock


@pytest.mark.parametrize("ignored", [True, False])
def test_the_command_ignores_what_we_were_told_to_ignore(ignored):
    script = "trap '' CHLD HUP; exec \"$@\"" if ignored else 'exec "$@"'
    shows = ["grep", "^SigIgn", "/proc/self/status"]
    stock = subprocess.run(["sh", "-c", script, "sh", *shows], capture_output=True, text=True).stdout
    words = ["sh", "-c", script, "sh", sys.executable, "-c", BESIDE, *shows]
    assert subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S).stdout == stock


def test_it_ends_with_us():
    with beside("sh", "-c", "echo $$; exec sleep 1000") as running:
        number = int(running.stdout.readline())
        running.kill()
        await_that(lambda: not Path(f"/proc/{number}").exists() or state_of(number) in "ZX", "the command goes on")


def test_a_stop_and_its_end_are_passed_on():
    with beside("sh", "-c", "echo $$; exec sleep 1000", start_new_session=True) as running:
        number = int(running.stdout.readline())
        running.send_signal(signal.SIGTSTP)  # nobody could let an orphaned group go on: the kernel stops none of it
        running.send_signal(signal.SIGTERM)
        assert running.wait(LIMIT_S) == -signal.SIGTERM
    script = 'set -m; "$@" & read line; kill -TSTP %1; wait %1; echo stopped $?; '
    script += "kill -CONT %1; kill -USR1 $!; wait $!; echo $?"
    with subprocess.Popen(
        ["bash", "-c", script, "bash", sys.executable, "-c", BESIDE, "sh", "-c", "echo $$ >&2; exec sleep 1000"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as running:  # fmt: skip
        number = int(running.stderr.readline())
        running.stdin.write("\n")
        running.stdin.flush()
        assert running.stdout.readline() == f"stopped {128 + signal.SIGTSTP}\n"
        running.stdin.close()
        assert int(running.stdout.readline()) == 128 + signal.SIGUSR1
        assert not Path(f"/proc/{number}").exists()


@pytest.mark.parametrize("number", [signal.SIGWINCH, signal.SIGXCPU, signal.SIGRTMIN, signal.SIGABRT, signal.SIGALRM])
def test_a_signal_to_us_reaches_the_command(number):
    script = f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(9)); "
    script += "print('ready', flush=True)\nwhile True: signal.pause()"
    with beside(sys.executable, "-c", script) as running:
        assert running.stdout.readline() == "ready\n"
        running.send_signal(number)
        assert running.wait(LIMIT_S) == 9


def test_what_cannot_be_started_is_an_error_and_a_script_without_a_first_line_runs(tmp_path):
    from tollbar.machine import child

    with pytest.raises(FileNotFoundError):
        child.Child(["no-such-command"], {})
    (tmp_path / "script").write_text("exit 9\n")
    (tmp_path / "script").chmod(0o755)
    with beside(tmp_path / "script") as running:
        assert running.wait(LIMIT_S) == 9


def test_the_ends_of_programs_of_other_threads_are_left_to_them():
    script = """
import subprocess, sys, threading, time
from tollbar.machine import child
codes = []
def runs():
    for _ in range(100):
        with child.others: codes.append(subprocess.run(["sh", "-c", "exit 7"]).returncode)
with child.Child(["sh", "-c", "(true & true & true &) ; read line"], {}) as own:
    thread = threading.Thread(target=runs)
    thread.start()
    while thread.is_alive(): own.wait(0.0001)
print(set(codes))
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        assert one.communicate(timeout=LIMIT_S)[0] == "{7}\n"


@pytest.mark.deep
def test_at_any_moment_it_ends_as_the_command_would():
    chance = random.Random(1)
    for _ in range(200):
        number = chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGKILL, signal.SIGHUP])
        with beside("sh", "-c", "echo; sleep 0.05; exit 3") as running:
            running.stdout.readline()
            time.sleep(chance.uniform(0, 0.1))
            running.send_signal(number)
            assert running.wait(LIMIT_S) in (3, -number)

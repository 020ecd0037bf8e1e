# SPDX-License-Identifier: Apache-2.0
"""tollbar run on a terminal: what is typed reaches the program, and stops and ends it, as without."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Iterator

import pytest
from needs import left_out

LIMIT_S = 30

#: Tells of its terminal, of each line that it reads, and how often it was interrupted and continued until then.
READS = """
import os, signal, sys
got = {signal.SIGINT: 0, signal.SIGCONT: 0}
def count(number, frame): got[number] += 1
for number in got: signal.signal(number, count)
if "deaf" in sys.argv: signal.signal(signal.SIGTSTP, signal.SIG_IGN)
print("foreground", os.getpgrp() == os.tcgetpgrp(0), os.isatty(0), flush=True)
while line := sys.stdin.readline():
    print("read", line.strip(), *got.values(), flush=True)
sys.exit(7)
"""
WATCHED = ["--timeout", "60", "--on-hang", "kill"]


class Terminal:
    """A shell with job control, whose terminal is ours."""

    def __init__(self) -> None:
        self.process, self._master = pty.fork()
        if self.process == 0:
            os.environ.update(PS1="prompt: ", TERM="dumb")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "--noediting", "-bi"])
        self._said = ""
        self.await_text("prompt: ")

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def await_text(self, text: str) -> None:
        """Reads up to it."""
        end = time.monotonic() + LIMIT_S
        while text not in self._said:
            left = end - time.monotonic()
            assert left > 0, f"no {text!r} in {self._said!r}"
            if select.select([self._master], [], [], left)[0]:
                self._said += os.read(self._master, 65536).decode(errors="replace")
        self._said = self._said.partition(text)[2]

    def close(self) -> None:
        os.close(self._master)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    if shutil.which("bash") is None:
        left_out("bash is not installed")
    opened = Terminal()
    yield opened
    opened.close()


@pytest.fixture(params=["stock", "in its place", "beside it"])
def words(request, tmp_path) -> str:
    """The line of the shell that starts the program."""
    (tmp_path / "reads.py").write_text(READS)
    through = {"stock": [], "in its place": ["--"], "beside it": [*WATCHED, "--"]}[request.param]
    run = [sys.executable, "-m", "tollbar", "run", *through] if through else []
    return shlex.join([*run, sys.executable, str(tmp_path / "reads.py")])


def test_a_program_has_its_terminal(terminal, words):
    terminal.type(f"{words}\n")
    terminal.await_text("foreground True True")
    terminal.type("first\n")
    terminal.await_text("read first 0 0")
    terminal.type("\x03")
    terminal.type("second\n")
    terminal.await_text("read second 1 0")
    time.sleep(0.2)  # so that what is passed on twice has come
    terminal.type("third\n")
    terminal.await_text("read third 1 0")
    terminal.type("\x1a")
    terminal.await_text("Stopped")
    terminal.await_text("prompt: ")
    terminal.type("fg\n")
    terminal.type("fourth\n")
    terminal.await_text("read fourth 1 1")
    terminal.type("\x04")
    terminal.await_text("prompt: ")
    terminal.type("echo code $?\n")
    terminal.await_text("code 7")


def test_a_program_that_does_not_stop_goes_on(terminal, words):
    terminal.type(f"{words} deaf\n")
    terminal.await_text("foreground True True")
    terminal.type("\x1a")
    time.sleep(0.2)  # so that what would stop has stopped
    terminal.type("\x03")
    terminal.type("first\n")
    terminal.await_text("read first 1 0")


def test_a_program_in_the_background_stops_where_it_reads(terminal, words):
    terminal.type(f"{words} &\n")
    terminal.await_text("foreground False True")
    terminal.type("\n")
    terminal.await_text("Stopped")
    terminal.type("fg\n")
    terminal.type("first\n")
    terminal.await_text("read first 0 1")
    terminal.type("\x04")

# SPDX-License-Identifier: Apache-2.0
"""A progress bar shows itself on a terminal only, and only when work takes long."""

import io
import sys
import threading

import pytest
from tollbar.cli import progress


class Terminal(io.StringIO):
    """A terminal that says when it is first written to."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def isatty(self):
        return True

    def write(self, text):
        count = super().write(text)
        if text.strip():
            self.written.set()
        return count


@pytest.fixture
def connect(monkeypatch):
    """Makes stderr a terminal; called within the test, because pytest takes stderr back before it starts."""

    def to_terminal():
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        return terminal

    return to_terminal


def test_short_work_shows_nothing(connect):
    stderr = connect()
    assert list(progress.track([1, 2, 3], "counting")) == [1, 2, 3]
    assert stderr.getvalue() == ""


def test_long_work_shows_its_label(connect, monkeypatch):
    stderr = connect()
    monkeypatch.setattr(progress, "PATIENCE_S", 0)
    with progress.Progress("counting", total=3) as bar:
        assert stderr.written.wait(timeout=60)
        bar.advance(label="still counting")
    assert "counting" in stderr.getvalue()
    assert stderr.getvalue().endswith("\r\033[K"), "the line is not taken back"


def test_the_line_says_what_is_done_and_what_is_left(monkeypatch):
    clock = iter([0.0, 30.0, 60.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    bar = progress.Progress("counting", total=4)
    assert bar._line() == f"counting {'.' * 40} 0:30"
    bar.advance()
    assert bar._line() == f"counting {'#' * 10}{'.' * 30} 1:00, 3:00 left"


def test_without_a_terminal_nothing_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE_S", 0)
    with progress.Progress("counting", total=3) as bar:
        bar.advance()
        assert not bar._shower.is_alive()
    assert capsys.readouterr().err == ""

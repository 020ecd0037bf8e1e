# SPDX-License-Identifier: Apache-2.0
"""How the tests themselves are run."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from needs import left_out
from tollbar import children

ROOT = Path(__file__).resolve().parent.parent
#: What commands can be ended by, and a shell or nohup has its children ignore.
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def pytest_of(*words: str, before: tuple[str, ...] = (), code: int = 0) -> str:
    command = [*before, sys.executable, "-m", "pytest", "-v", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout
    return done.stdout


def test_the_tests_of_a_file_run_in_one_process():
    """A module's fixture is made once, however many processes there are."""
    said = pytest_of("-n", "2", "tests/python/data/schema_test.py")
    assert len(set(re.findall(r"^\[(gw\d)\]", said, re.MULTILINE))) == 1


def test_what_a_test_starts_ignores_no_signal():
    status = subprocess.run(["cat", "/proc/self/status"], capture_output=True, text=True, check=True).stdout
    ignored = int(re.search(r"^SigIgn:\s+(\w+)$", status, re.MULTILINE)[1], 16)
    assert [number.name for number in SIGNALS if ignored >> (number - 1) & 1] == []


def test_that_is_so_in_the_background_and_under_nohup():
    ignoring = ("env", *(f"--ignore-signal={number.name[3:]}" for number in SIGNALS))
    pytest_of("-n", "1", f"{__file__}::{test_what_a_test_starts_ignores_no_signal.__name__}", before=ignoring)


@pytest.mark.skipif("LEAVING_OUT" not in os.environ, reason="the two tests below run it")
class TestThisOne:
    """Tests that lack something that make test would have installed or built."""

    def test_lacks_a_tool(self):
        left_out("a tool is lacking")

    @pytest.mark.needs(None, "a library is lacking")
    def test_lacks_a_library(self):
        raise AssertionError


def test_what_setup_installs_may_be_lacking():
    said = pytest_of("-rs", f"{__file__}::TestThisOne", before=("env", "-u", "NO_SKIPS", "LEAVING_OUT=1"))
    assert "a tool is lacking" in said
    assert "a library is lacking" in said
    assert "2 skipped" in said


def test_what_setup_installs_may_not_be_lacking_where_all_is_there():
    said = pytest_of(f"{__file__}::TestThisOne", before=("env", "NO_SKIPS=1", "LEAVING_OUT=1"), code=1)
    assert "a tool is lacking, and must not be (NO_SKIPS)" in said
    assert "a library is lacking, and must not be (NO_SKIPS)" in said
    assert "1 failed, 1 error" in said


@pytest.mark.skipif("CHANGING" not in os.environ, reason="the test below runs it")
class TestThatOne:
    """Tests that change the process in which others come after them, or hang."""

    def test_takes_in_what_has_lost_its_parent(self):
        children.be_subreaper(True)

    def test_ends_by_a_broken_pipe(self):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)

    @pytest.mark.timeout(0.1)
    def test_waits_for_what_does_not_come(self):
        signal.pause()


def test_what_changes_the_process_of_other_tests_or_hangs_fails():
    said = pytest_of(f"{__file__}::TestThatOne", before=("env", "CHANGING=1"), code=1)
    assert "as the parent of what has lost its own" in said
    assert "leaves SIGPIPE" in said
    assert "Timeout" in said

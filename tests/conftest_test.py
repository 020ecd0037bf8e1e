# SPDX-License-Identifier: Apache-2.0
"""How the tests themselves are run."""

import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: What commands can be ended by, and a shell or nohup has its children ignore.
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)


def pytest_of(*words: str, before: tuple[str, ...] = ()) -> str:
    command = [*before, sys.executable, "-m", "pytest", "-v", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
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

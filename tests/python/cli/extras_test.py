# SPDX-License-Identifier: Apache-2.0
"""The command without the packages of the extra `bench`, as the light installations have it."""

import subprocess
import sys

import pytest
from tollbar.machine import extras

LIGHT = f"""
import sys
for name in {extras.BENCH}:
    sys.modules[name] = None
from tollbar.cli import main
sys.exit(main(sys.argv[1:]))
"""


def light(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", LIGHT, *words], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "words",
    [
        ["plans"],
        ["show", "mcs", "--ranks", "8"],
        ["verify", "mcs", "--ranks", "1..8"],
        ["price", "mcs", "--ranks", "64"],
        ["simulate", "scheduler", "turnstile"],
        ["simulate", "nic"],
        ["doctor"],
        ["completion", "bash"],
        ["bench", "--help"],
    ],
    ids=" ".join,
)
def test_the_core_of_the_command_needs_none_of_them(words):
    done = light(*words)
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr


@pytest.mark.parametrize(
    "words", [["bench", "threads", "turnstile"], ["tune", "threads"], ["report"], ["reproduce", "all"]], ids=" ".join
)
def test_a_verb_that_needs_them_says_what_to_install_before_it_begins(words, tmp_path, monkeypatch):
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path))
    done = light(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"tollbar {words[0]}: this verb needs {', '.join(extras.BENCH)}; remedy: pip install {' '.join(extras.BENCH)}\n"
    )
    assert list(tmp_path.iterdir()) == []

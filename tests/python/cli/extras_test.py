# SPDX-License-Identifier: Apache-2.0
"""The command without the packages of the extra `bench`, as the light installations have it."""

import subprocess
import sys
import sysconfig
from pathlib import Path

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


def test_a_python_whose_system_keeps_pip_out_gets_one_beside_it(tmp_path, monkeypatch):
    """As Debian's, for which the packages are: its pip refuses to install."""
    monkeypatch.setattr("sys.prefix", sys.base_prefix)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert extras.remedy(["polars"]) == "pip install polars"
    (tmp_path / "EXTERNALLY-MANAGED").touch()
    folder = "~/.local/share/tollbar/python"
    assert extras.remedy(["polars"]) == (
        f"python3 -m venv --system-site-packages {folder} && {folder}/bin/pip install polars; "
        f"then run {folder}/bin/python -m tollbar in place of tollbar"
    )
    monkeypatch.setattr("sys.prefix", "/a/venv")
    assert extras.remedy(["polars"]) == "pip install polars"


@pytest.mark.skipif(
    not Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists(), reason="pip may install in this Python"
)
def test_the_python_of_the_system_is_told_so():
    code = f"import sys; sys.path[:0] = {[str(Path(extras.__file__).parents[2])]}; {LIGHT.strip()}"
    words = [sys._base_executable, "-c", code.replace("; import sys", "\nimport sys"), "report"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert "remedy: python3 -m venv --system-site-packages" in done.stderr

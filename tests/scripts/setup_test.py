# SPDX-License-Identifier: Apache-2.0
"""scripts/setup says what is missing and how to do without before it installs anything."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[2] / "scripts" / "setup"
#: Stand-ins for the programs that setup calls. cmake, libck-dev, libmpich-dev and chromium are missing; apt-get tells.
PROGRAMS = {
    "dpkg-query": 'case "$*" in *cmake*|*libck-dev*|*libmpich-dev*|*chromium*) exit 1;; esac; echo installed',
    "apt-get": 'echo "apt-get $*"',
    "env": 'shift; "$@"',
    "sudo": '"$@"',
}


@pytest.fixture
def setup(tmp_path):
    """setup(packages) -> what a setup says on a machine of ours, and what it has installed."""
    (tmp_path / "scripts").mkdir()
    script = shutil.copy(SETUP, tmp_path / "scripts" / "setup")
    for name, body in {**PROGRAMS, ".venv/bin/python": "true"}.items():
        program = tmp_path / name if "/" in name else tmp_path / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)

    def run(packages: str) -> tuple[int, str, list[str]]:
        environment = os.environ | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "PACKAGES": packages}
        # apt-get's own output is thrown away where it installs, so that is seen by what setup says.
        done = subprocess.run(
            ["bash", script], env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        lines = done.stderr.splitlines()
        return done.returncode, done.stderr, [line for line in lines if line.startswith("setup: installing")]

    return run


def test_without_a_choice_everything_is_installed_after_it_was_told(setup):
    code, said, installed = setup("")
    assert code == 0
    told, _, _ = said.partition("setup: installing")
    assert "5 Debian packages are missing" in told
    assert "needed to build anything: cmake" in told
    assert "libck-dev: without it Concurrency Kit is not measured" in told
    assert "make PACKAGES=needed" in told
    assert "make library" in told
    assert installed == ["setup: installing cmake libck-dev libmpich-dev chromium chromium-driver"]  # in one step


def test_only_what_is_needed_is_installed_where_that_is_asked_for(setup):
    assert setup("needed")[2] == ["setup: installing cmake"]


def test_the_demo_installs_what_it_measures_and_nothing_else(setup):
    assert setup("demo")[2] == ["setup: installing cmake libmpich-dev"]


def test_what_was_configured_before_an_installation_is_configured_again(setup, tmp_path):
    """The build looks for libraries again once this file is newer (CMakeLists.txt, Makefile)."""
    stamp = tmp_path / "build" / "setup" / "installed"
    setup("none")
    os.utime(stamp, (1, 1))
    setup("none")
    assert stamp.stat().st_mtime == 1
    setup("needed")
    assert stamp.stat().st_mtime > 1


def test_nothing_is_installed_where_that_is_asked_for(setup):
    code, said, installed = setup("none")
    assert (code, installed) == (0, [])
    assert "continuing without cmake" in said


def test_a_choice_that_there_is_not_is_refused(setup):
    assert setup("some")[:2] == (1, "setup: PACKAGES is all, needed, demo or none, not some\n")

# SPDX-License-Identifier: Apache-2.0
"""Running programs and the installed tree, for all tests of packaging."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

import pytest
from needs import left_out
from pythons import python

ROOT = Path(__file__).resolve().parent.parent.parent


def succeed(*command: str | Path, **changed: str) -> str:
    """The output of a command that must succeed; `changed` is added to the environment."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TOLLBAR_")}
    done = subprocess.run(
        [str(word) for word in command],
        env=environment | changed,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def run():
    return succeed


@pytest.fixture(scope="session")
def prefix(tmp_path_factory) -> Path:
    """build/release, installed and then moved: an installed tree may not remember where it was made."""
    if not (ROOT / "build" / "release" / "libtollbar.so").exists():
        left_out("build/release is not there; run `make`")
    first, moved = tmp_path_factory.mktemp("made") / "prefix", tmp_path_factory.mktemp("moved") / "prefix"
    succeed("cmake", "--install", ROOT / "build" / "release", "--prefix", first)
    return first.rename(moved)


@pytest.fixture(scope="session")
def wheel_for(run):
    """wheel_for(version, machine): the wheel that a Python of that version makes for that processor."""

    @functools.cache
    def make(version: str, machine: str) -> Path:
        changed = {"MACHINE": "arm64"} if machine == "aarch64" else {}
        return ROOT / run(ROOT / "scripts" / "packages", "wheel", python(version), **changed).strip()

    return make

# SPDX-License-Identifier: Apache-2.0
"""A change of the headers for C that breaks compiled programs fails lint, unless the soname moves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from needs import left_out

pytestmark = [pytest.mark.deep, pytest.mark.needs(shutil.which("abidiff"), "abidiff is not installed (abigail-tools)")]

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checkout(tmp_path) -> Path:
    """This checkout with headers that a test may change."""
    if not (ROOT / "build" / "release" / "libtollbar.so").exists():
        left_out("build/release is not there; run `make`")
    for name in ("build", "packaging", "scripts", "CMakeLists.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "include", tmp_path / "include")
    return tmp_path


def complaint(checkout: Path) -> str:
    done = subprocess.run([checkout / "scripts" / "packages", "keeps"], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr


def test_the_headers_of_this_checkout_keep_the_interface_of_their_soname(checkout):
    assert complaint(checkout) == ""


@pytest.mark.parametrize(
    ("text", "instead", "named"),
    [
        ("TOLLBAR_WAIT_PARK = 3", "TOLLBAR_WAIT_PARK = 4", "TOLLBAR_WAIT_PARK"),
        ("typedef struct tollbar_missing {", "typedef struct tollbar_missing {\n    uint64_t added;", "added"),
        (
            "tollbar_barrier* barrier, size_t times",
            "tollbar_barrier* barrier, uint32_t times",
            "tollbar_barrier_arrive",
        ),
    ],
)
def test_a_change_that_breaks_programs_is_named(checkout, text, instead, named):
    header = checkout / "include" / "tollbar" / "tollbar.h"
    changed = header.read_text().replace(text, instead, 1)
    assert changed != header.read_text()
    header.write_text(changed)
    said = complaint(checkout)
    assert named in said
    assert said.endswith("move TOLLBAR_SONAME, and store `scripts/packages interface` under the new name\n")

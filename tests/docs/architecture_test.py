# SPDX-License-Identifier: Apache-2.0
"""docs/design/architecture.md against the tree: its rooms, what they may include, and the files it names."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design" / "architecture.md"
SOURCES = {".cpp", ".hpp", ".c", ".h"}


def test_the_page_and_the_picture_are_those_of_may_include():
    script = ROOT / "scripts" / "architecture"
    done = subprocess.run([script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rooms_of_the_page_are_the_folders_of_src_that_hold_sources():
    rooms = set(re.findall(r"^\| `([\w/]+)` \|", PAGE.read_text(), re.MULTILINE))
    files = [path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*") if path.suffix in SOURCES]
    assert {path.parent.as_posix() for path in files} == rooms


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"`((?:src|include|scripts|tests)/[\w./]+)`", PAGE.read_text()))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()

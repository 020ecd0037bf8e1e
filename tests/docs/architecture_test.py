# SPDX-License-Identifier: Apache-2.0
"""docs/design/architecture.md against the tree: its rooms, what they may include, and the files it names."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design" / "architecture.md"
SOURCES = {".cpp", ".hpp", ".c", ".h"}


def check(root: Path) -> subprocess.CompletedProcess[str]:
    script = root / "scripts" / "architecture"
    return subprocess.run([script, "--check"], capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path) -> Path:
    """What the script reads and writes."""
    for name in (
        "scripts/architecture",
        "tests/structure_test.py",
        "docs/design/architecture.md",
        "docs/pictures/rooms.svg",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_the_page_and_the_picture_are_those_of_may_include():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_rooms_of_the_page_are_the_folders_of_src_that_hold_sources():
    rooms = set(re.findall(r"^\| `([\w/]+)` \|", PAGE.read_text(), re.MULTILINE))
    files = [path.relative_to(ROOT / "src") for path in (ROOT / "src").rglob("*") if path.suffix in SOURCES]
    assert {path.parent.as_posix() for path in files} == rooms


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"`((?:src|include|scripts|tests)/[\w./]+)`", PAGE.read_text()))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_a_changed_dependency_is_noticed_and_written_by_one_command(copy):
    replace(copy / "tests/structure_test.py", '"workload": {"plan"}', '"workload": {"plan", "analysis"}')
    stale = check(copy)
    assert stale.returncode == 1
    assert "docs/design/architecture.md is out of date: run scripts/architecture" in stale.stdout
    subprocess.run([copy / "scripts/architecture"], check=True, capture_output=True)
    assert check(copy).returncode == 0


def test_rooms_that_include_each_other_are_named(copy):
    replace(copy / "tests/structure_test.py", '"plan": set()', '"plan": {"runtime"}')
    done = check(copy)
    assert done.returncode == 1
    assert "include each other: plan, " in done.stderr


def test_a_room_that_the_script_does_not_know_is_named(copy):
    replace(copy / "tests/structure_test.py", '"plan": set(),', '"plan": set(), "attic": set(),')
    done = check(copy)
    assert done.returncode == 1
    assert "HOLDS and MAY_INCLUDE differ in attic" in done.stderr

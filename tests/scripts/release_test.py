# SPDX-License-Identifier: Apache-2.0
"""scripts/release: what keeps a commit from being a release is said, all of it, and nothing is done then."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(tollbar VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
NAMES = [
    "CMakeLists.txt", "CHANGELOG.md", "CITATION.cff", ".gitignore", "scripts/release",
    "packaging/debian/changelog",
]  # fmt: skip


def git(folder: Path, *words: str) -> str:
    settings = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    return subprocess.run(["git", *settings, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A repository with what a release is checked by: dated, committed, tested."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "scripts/release").chmod(0o755)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        re.sub(rf"^## {re.escape(VERSION)}, .*$", f"## {VERSION}, 2030-01-02", changes.read_text(), flags=re.M)
    )
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "everything")
    for tier in ("quick", "deep"):
        passed = tmp_path / "build" / "test" / tier / "passed"
        passed.parent.mkdir(parents=True)
        passed.write_text(git(tmp_path, "rev-parse", "HEAD"))
    return tmp_path


def release(checkout: Path, *words: str) -> tuple[int, list[str]]:
    done = subprocess.run([checkout / "scripts/release", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


def test_a_commit_that_is_tested_dated_and_of_one_version_can_be_a_release(checkout):
    assert release(checkout, VERSION, "--dry-run") == (0, [])
    assert git(checkout, "tag") == ""


def test_another_version_than_that_of_the_files_is_refused_by_each_of_them(checkout):
    status, said = release(checkout, "9.8.7", "--dry-run")
    assert status == 1
    named = {word for line in said for word in NAMES if word in line}
    assert named == set(NAMES) - {".gitignore", "scripts/release"}


def test_changes_that_are_not_committed_are_refused(checkout):
    (checkout / "CMakeLists.txt").open("a").write("#\n")
    assert release(checkout, VERSION) == (1, ["release: there are changes that are not committed"])


@pytest.mark.parametrize("tier", ["quick", "deep"])
def test_a_commit_whose_tests_have_not_passed_is_refused(checkout, tier):
    (checkout / "build" / "test" / tier / "passed").write_text("another commit\n")
    status, said = release(checkout, VERSION)
    assert (status, len(said)) == (1, 1)
    assert "has not passed with this commit" in said[0]


def test_a_version_that_is_tagged_or_has_no_date_is_refused(checkout):
    git(checkout, "tag", f"v{VERSION}")
    assert release(checkout, VERSION) == (1, [f"release: the tag v{VERSION} is there already"])
    git(checkout, "tag", "-d", f"v{VERSION}")
    changes = checkout / "CHANGELOG.md"
    changes.write_text(changes.read_text().replace(", 2030-01-02", ", not yet released"))
    git(checkout, "commit", "-qam", "no date")
    for tier in ("quick", "deep"):
        (checkout / "build" / "test" / tier / "passed").write_text(git(checkout, "rev-parse", "HEAD"))
    status, said = release(checkout, VERSION)
    assert (status, len(said)) == (1, 1)
    assert "CHANGELOG.md has no section" in said[0]


@pytest.mark.parametrize("words", [[], ["1.2"], ["1.2.3", "--now"]])
def test_wrong_use_is_answered_with_the_usage(checkout, words):
    status, said = release(checkout, *words)
    assert status == 2
    assert "usage: scripts/release VERSION [--dry-run]" in said[0]

# SPDX-License-Identifier: Apache-2.0
"""scripts/test finds out which deep tests a change needs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parents[2] / "scripts" / "test"
DAY_S = 24 * 60 * 60
NOW = 1_700_000_000


class Repository:
    """A clone of its own with scripts/test, in which nothing can be built."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        for name in ("test", "cached", "changed"):
            shutil.copy(TEST.with_name(name), folder / "scripts" / name)
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *words: str, age_s: int = 0) -> str:
        when = f"@{NOW - age_s} +0000"
        who = {f"GIT_{role}_{what}": "tester" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = os.environ | who | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        command = ["git", "-C", self.folder, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, name: str, age_s: int = 0) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{age_s}\n")
        self.git("add", "--force", name)
        self.git("commit", "--quiet", "--message", name, age_s=age_s)
        return self.git("rev-parse", "HEAD")

    def parts(self, base: str = "") -> str:
        """What `scripts/test changed` says before it fails for want of a Makefile."""
        environment = os.environ | {"BASE": base, "NO_SKIPS": ""}
        command = ["bash", self.folder / "scripts" / "test", "changed"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return re.search(r"^the deep tier: (.*?) *$", done.stdout, re.MULTILINE)[1]


@pytest.fixture
def repository(tmp_path) -> Repository:
    made = Repository(tmp_path)
    made.commit("src/plan/plan.cpp", age_s=3 * DAY_S)
    return made


def test_commits_landed_together_are_tested_together(repository):
    repository.commit("tests/faults/failing.c", age_s=600)
    repository.commit("docs/index.md")
    assert repository.parts() == "tests/docs tests/faults"


def test_what_was_landed_days_ago_is_not_tested_again(repository):
    repository.commit("docs/index.md", age_s=2 * DAY_S)
    repository.commit("tests/mutants/mutants.toml")
    assert repository.parts() == "tests/mutants"


def test_everything_is_tested_where_nothing_says_what_has_changed(tmp_path):
    made = Repository(tmp_path)
    made.commit("docs/index.md")
    assert made.parts() == "everything"


def test_a_branch_is_tested_for_what_it_has_changed(repository):
    repository.commit("src/plan/plan.hpp")
    repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repository.commit("docs/index.md")
    assert repository.parts() == "tests/docs"


def test_the_server_may_name_the_commit_before(repository):
    before = repository.commit("src/plan/plan.hpp")
    repository.commit("README.md")
    repository.commit("tests/security/wire_test.py")
    assert repository.parts(base=before) == "tests/docs tests/python/report"
    assert repository.parts(base=repository.git("rev-parse", "HEAD")).startswith("everything")

# SPDX-License-Identifier: Apache-2.0
"""Runs the command inside the test's process and gives back what it said.

The fixture is one of tests/python/cli and lab/tests/python/cli, whose conftest.py names it."""

import csv
import io
import json
from dataclasses import dataclass

import pytest
from tollbar.cli import main


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def csv(self):
        assert self.code == 0, self.err
        return list(csv.DictReader(io.StringIO(self.out)))

    @property
    def refusal(self) -> str:
        """Why it refuses what was asked, in one line."""
        assert (self.code, self.out) == (2, "")
        assert self.err.count("\n") == 1
        return self.err


@pytest.fixture
def tollbar(capsys, monkeypatch):
    """tollbar("price", "mcs", ...) -> Said, without any TOLLBAR_ variable of the developer's."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("PLAN", "WAIT", "TIMEOUT", "TUNING", "REPORT", "RESULTS", "VERBOSE", "BUILD"):
        monkeypatch.delenv(f"TOLLBAR_{name}", raising=False)

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Said(code, *capsys.readouterr())

    return run

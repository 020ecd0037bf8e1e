# SPDX-License-Identifier: Apache-2.0
"""Has the library choose plans for whole MPI jobs, with more time than a program would give it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tollbar import children
from tollbar.campaigns import mpi_settings
from tollbar.data import tuning
from tollbar.data.tuning import Entry
from tollbar.machine import neutral
from tollbar.machine.failure import Failure
from tollbar.machine.mpis import Mpi

OBJECTIVES = ("latency", "skew", "wait")
_STARTING_S = 60  # a launch may take that long beside what it measures


def choose(mpi: Mpi, program: Path, ranks: int, budget_ms: int) -> list[Entry]:
    """The choices of the library for so many ranks on this machine, an entry for each objective.

    Raises Failure that says why there is none.
    """
    with tempfile.TemporaryDirectory(prefix="tollbar-tune-") as folder:
        file = Path(folder) / "tuning"  # an empty one: what is stored already would not be measured again
        command = [*mpi_settings.job(mpi, ranks), "env", f"TOLLBAR_TUNING={file}"]
        command += [str(program), "--choose", str(budget_ms)]
        limit_s = _STARTING_S + len(OBJECTIVES) * budget_ms / 1000
        _run(command, neutral.environment(), limit_s)
        return [Entry(entry.kind, entry.pairs | {"by": "tune"}) for entry in tuning.read(file)]


def _run(command: list[str], environment: dict[str, str], limit_s: float) -> None:
    done = children.run(command, limit_s, environment)
    if done.exit_code is None:
        raise Failure(f"nothing was chosen within {limit_s:.0f} s")
    if done.exit_code:
        lines = [line for line in done.errors.splitlines() if line.strip(" -*")]
        raise Failure(lines[0].strip() if lines else f"it ended with status {done.exit_code}")

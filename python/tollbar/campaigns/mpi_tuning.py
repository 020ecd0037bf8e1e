# SPDX-License-Identifier: Apache-2.0
"""Has the library choose plans for whole MPI jobs, with more time than a program would give it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tollbar.campaigns import mpi_settings
from tollbar.data import tuning
from tollbar.data.tuning import Entry
from tollbar.machine import mpis, neutral, paths
from tollbar.machine.failure import Failure
from tollbar.machine.mpis import Mpi

OBJECTIVES = ("latency", "skew", "wait")
_STARTING_S = 60  # a launch may take that long beside what it measures


def with_programs(wanted: Sequence[str]) -> list[tuple[Mpi, Path]]:
    """The MPIs that can be tuned for, each with its program: those that were asked for, else all.

    Asked for as "openmpi", "openmpi5" or "openmpi-5.0.11". Raises FileNotFoundError that says what there is,
    or what is missing.
    """
    there = mpis.installed()
    for name in wanted:
        if not any(name in _names(mpi) for mpi in there):
            names = ", ".join(key(mpi) for mpi in there) or "none"
            raise FileNotFoundError(f"there is no MPI '{name}' here; there are: {names}")
    usable, missing = [], []
    for mpi in there:
        if not wanted or any(name in _names(mpi) for name in wanted):
            try:
                usable.append((mpi, paths.program(mpi_settings.program_of(mpi))))
            except FileNotFoundError as error:
                missing.append(f"{mpi.name}: {error}")
    if not usable:
        raise FileNotFoundError(missing[0] if missing else "there is no MPI here; `scripts/setup` installs some")
    return usable


def key(mpi: Mpi) -> str:
    """As the tuning file names it."""
    return f"{mpi.family}-{mpi.version}"


def _names(mpi: Mpi) -> tuple[str, ...]:
    return mpi.family, f"{mpi.family}{mpi.major}", key(mpi)


def choose(mpi: Mpi, program: Path, ranks: int, budget_ms: int) -> list[Entry]:
    """What the library chooses for so many ranks on this machine, an entry for each objective.

    Raises Failure that says why there is none.
    """
    with tempfile.TemporaryDirectory(prefix="tollbar-tune-") as folder:
        file = Path(folder) / "tuning"  # an empty one: what is stored already would not be measured again
        command = [*launcher(mpi, ranks), "env", f"TOLLBAR_TUNING={file}"]
        command += [str(program), "--choose", str(budget_ms)]
        limit_s = _STARTING_S + len(OBJECTIVES) * budget_ms / 1000
        _run(command, neutral.environment(), limit_s)
        return [Entry(entry.kind, entry.pairs | {"by": "tune"}) for entry in tuning.read(file)]


def _run(command: list[str], environment: dict[str, str], limit_s: float) -> None:
    # `timeout` also ends the ranks, which a launcher that is killed would leave behind.
    command = ["timeout", "-k", "5", f"{limit_s:.0f}", *command]
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if done.returncode == 124:
        raise Failure(f"nothing was chosen within {limit_s:.0f} s")
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.strip(" -*")]
        raise Failure(said[0].strip() if said else f"it ended with status {done.returncode}")


def launcher(mpi: Mpi, ranks: int) -> list[str]:
    """How that MPI starts so many ranks on this machine."""
    options = []
    if mpi.family == "openmpi":
        options = ["--oversubscribe", "--bind-to", "none"]
        options += ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [*mpi_settings.launcher(mpi), *options, "-n", str(ranks)]

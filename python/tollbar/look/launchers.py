# SPDX-License-Identifier: Apache-2.0
"""Ranks of processes, by the variables in which the library's table has them: for jobs with an MPI and without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tollbar import _native


class Launcher(NamedTuple):
    """A row of the library's table (src/base/launchers.hpp)."""

    rank: str
    size: str
    size_here: str
    job: Sequence[str]
    of_mpi: bool


_TABLE = tuple(Launcher(*row) for row in _native.launchers())
#: Begins of addresses that only processes of the same host reach.
_LOCAL = ("127.", "localhost", "::1")


def of_process(variables: Mapping[str, str]) -> Launcher | None:
    """The launcher that has numbered a process with these variables."""
    return next((one for one in _TABLE if _number(variables, one.rank) is not None), None)


def rank(variables: Mapping[str, str], of_mpi: bool = False) -> tuple[int, int | None] | None:
    """The rank and the number of ranks, where there is one; `of_mpi`: by a launcher of an MPI only."""
    for launcher in _TABLE:
        number = _number(variables, launcher.rank)
        if number is not None and (launcher.of_mpi or not of_mpi):
            return number, _number(variables, launcher.size)
    return None


def is_all_here(variables: Mapping[str, str]) -> bool:
    """Whether these say that all ranks of the job are on one host."""
    launcher = of_process(variables)
    size = _number(variables, launcher.size) if launcher else None
    if launcher is None or size is None:
        return False
    size_here = _number(variables, launcher.size_here)
    local = "MASTER_ADDR" in launcher.job and variables.get("MASTER_ADDR", "").startswith(_LOCAL)
    return size == size_here or (size_here is None and local)


def job(variables: Mapping[str, str]) -> tuple[str, ...]:
    """The words by which ranks of one job know each other; empty: there are none."""
    launcher = of_process(variables)
    words = tuple(variables.get(name, "") for name in launcher.job) if launcher else ()
    return (launcher.rank, variables.get(launcher.size, ""), *words) if launcher and any(words) else ()


def _number(variables: Mapping[str, str], name: str) -> int | None:
    value = variables.get(name, "")
    return int(value) if value.isascii() and value.isdigit() else None

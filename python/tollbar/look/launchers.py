# SPDX-License-Identifier: Apache-2.0
"""The variables by which launchers tell a process its rank: one table for jobs with an MPI and without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Launcher:
    """The names of its variables; empty: it has none for that."""

    rank: str
    size: str
    size_here: str = ""
    job: tuple[str, ...] = ()  #: these together are the same in all ranks of a job, and in those of no other job
    of_mpi: bool = True  #: it starts ranks of an MPI; some start others as well


#: The first one whose rank is a number counts. Slurm comes last: it numbers whatever it starts, also the one process
#: that starts all ranks by another launcher.
TABLE = (
    Launcher("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", ("PMIX_NAMESPACE",)),
    Launcher("PMIX_RANK", "SLURM_NTASKS", "", ("PMIX_NAMESPACE",)),
    Launcher("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", ("PMI_PORT",)),
    Launcher("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", ("MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"), False),
    Launcher("SLURM_PROCID", "SLURM_NTASKS", "", ("SLURM_JOB_ID", "SLURM_STEP_ID")),
)
RANKS_OF_MPI = tuple(launcher.rank for launcher in TABLE if launcher.of_mpi)
#: Begins of addresses that only processes of the same host reach.
_LOCAL = ("127.", "localhost", "::1")


def of_process(variables: Mapping[str, str]) -> Launcher | None:
    """The launcher that has numbered a process with these variables."""
    return next((one for one in TABLE if _number(variables, one.rank) is not None), None)


def rank(variables: Mapping[str, str], of_mpi: bool = False) -> tuple[int, int | None] | None:
    """The rank and the number of ranks, where there is one; `of_mpi`: by a launcher of an MPI only."""
    for launcher in TABLE:
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

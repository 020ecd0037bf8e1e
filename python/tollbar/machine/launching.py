# SPDX-License-Identifier: Apache-2.0
"""Jobs that an Open MPI's launcher is about to refuse, and the option that it wants to be given."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

#: Whoever sets both wants ranks that run as root.
_ROOT_ALLOWED = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")

#: Options and variables that say how many ranks a host takes; then nothing is known here.
_SLOTS_OPTION = re.compile(
    r"--?(?:oversubscribe|use-hwthread-cpus|host|H|hostfile|default-hostfile|machinefile|rankfile|rf|app)|:"
    r"|.*\b(?:oversubscribe|hwtcpus|hwthread)\b.*",
    re.IGNORECASE,
)
_SLOTS_VARIABLE = re.compile(
    r"(?:OMPI_MCA_rmaps_base_oversubscribe|OMPI_MCA_orte_default_hostfile|(?:OMPI|PRTE)_MCA_rmaps_default_mapping_policy"
    r"|PRTE_MCA_\w*hostfile|SLURM_JOB_ID|PBS_JOBID|LSB_JOBID|PE_HOSTFILE)"
)
_RANKS = ("-n", "-np", "--np", "-c", "--n")


def refused_as_root(options: Sequence[str], variables: Mapping[str, str], user: int) -> str | None:
    """Why Open MPI will not start at all, and what to add; None when it will."""
    allowed = "--allow-run-as-root" in options or all(variables.get(name) == "1" for name in _ROOT_ALLOWED)
    if user != 0 or allowed:
        return None
    return (
        "Open MPI does not start ranks as root; to start them nevertheless, add --allow-run-as-root to its "
        "options, or set " + " and ".join(f"{name}=1" for name in _ROOT_ALLOWED)
    )


def too_few_slots(options: Sequence[str], variables: Mapping[str, str], cores: int) -> str | None:
    """Why Open MPI will find too few slots, and what to add; None where it will not, or nobody knows."""
    ranks = _ranks_option(options)
    slots_set = any(map(_SLOTS_OPTION.fullmatch, options)) or any(map(_SLOTS_VARIABLE.fullmatch, variables))
    if slots_set or ranks is None or cores == 0 or ranks <= cores:
        return None
    return (
        f"Open MPI starts one rank a core, and there are {cores} for {ranks} ranks; "
        "add --oversubscribe to its options to start them all"
    )


def usable_cores() -> int:
    """How many cores this process may use; 0 when the kernel does not tell."""
    try:
        siblings = {
            Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
            for cpu in os.sched_getaffinity(0)
        }
    except OSError:
        return 0
    return len(siblings)


def _ranks_option(options: Sequence[str]) -> int | None:
    for option, value in zip(options, options[1:]):
        if not option.startswith("-") and shutil.which(option):
            return None  # the program, and what follows is its own
        if option in _RANKS and value.isdecimal():
            return int(value)
    return None

# SPDX-License-Identifier: Apache-2.0
"""The environment of measuring programs: this process's, without the variables that would steer them."""

from __future__ import annotations

import os

#: Prefixes of variables of tollbar, OpenMP, the MPIs and their launchers, and OpenSHMEM.
_STEERING = (
    "TOLLBAR_", "LD_PRELOAD", "OMP_", "GOMP_", "KMP_", "LIBOMP_", "OMPI_", "PMIX_", "PRTE_", "PMI_", "MPIR_",
    "MPICH_", "HYDRA_", "I_MPI_", "UCX_", "SHMEM_", "SMA_",
)  # fmt: skip


def environment() -> dict[str, str]:
    """The variables of this process that steer no barrier, MPI or launcher."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}

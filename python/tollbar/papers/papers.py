# SPDX-License-Identifier: Apache-2.0
"""The five papers by the names that the command takes, each with what makes its exhibits."""

from __future__ import annotations

from collections.abc import Callable

from tollbar.papers import logp, multiprogramming, nic, openmp_mpi, split_shmem
from tollbar.papers.exhibit import Exhibit
from tollbar.papers.stored import Stored

MAKERS: dict[str, Callable[[Stored], list[Exhibit]]] = {
    each.NAME: each.exhibits for each in (openmp_mpi, logp, multiprogramming, split_shmem, nic)
}

#: What is no table, curve or algorithm, and so has nothing to be reproduced.
LEFT_OUT = {
    "logp": "Figure 1 explains L, o and g, Figures 2 and 3 draw Open MPI and a component's life.",
}

# SPDX-License-Identifier: Apache-2.0
"""The five papers by the names that the command takes, each with what makes its exhibits."""

from __future__ import annotations

from collections.abc import Callable

from tollbar.papers import logp, multiprogramming, nic, openmp_mpi, split_shmem
from tollbar.papers.exhibit import Exhibit
from tollbar.papers.stored import Stored

MAKERS: dict[str, Callable[[Stored], list[Exhibit]]] = {
    paper.NAME: paper.exhibits for paper in (openmp_mpi, logp, multiprogramming, split_shmem, nic)
}

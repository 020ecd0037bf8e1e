# SPDX-License-Identifier: Apache-2.0
"""Tables and figures of five papers about barriers, beside what models give and what is measured here."""

from collections.abc import Callable

from tollbar_lab.papers import logp, multiprogramming, nic, openmp_mpi, split_shmem
from tollbar_lab.papers.exhibit import Exhibit
from tollbar_lab.papers.stored import Stored

#: The makers of the exhibits of each paper, by the name that the command takes.
MAKERS: dict[str, Callable[[Stored], list[Exhibit]]] = {
    paper.NAME: paper.exhibits for paper in (openmp_mpi, logp, multiprogramming, split_shmem, nic)
}

# SPDX-License-Identifier: Apache-2.0
"""A cluster of Slurm, whose nodes are apart, and programs that run there."""

from collections.abc import Iterator

import pytest
import slurm_cluster
from looking import compiled, helper_is_built

__all__ = ["compiled", "helper_is_built"]
NODES = 3


@pytest.fixture(scope="module")
def nodes(tmp_path_factory) -> Iterator[slurm_cluster.Cluster]:
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm"), NODES) as made:
        yield made


@pytest.fixture
def cluster(nodes) -> Iterator[slurm_cluster.Cluster]:
    """It runs no job when the test begins."""
    yield nodes
    nodes.cancel_everything()

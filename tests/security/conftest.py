# SPDX-License-Identifier: Apache-2.0
"""A group of a third user beside what the tests try."""

from collections.abc import Iterator

import pytest
from nic_attacks import working
from nic_hosts import Network


@pytest.fixture
def bystander(network: Network) -> Iterator[None]:
    """It must have met while the test ran, and must go on to meet."""
    with working(network):
        yield

# SPDX-License-Identifier: Apache-2.0
"""What tests of several folders need."""

from __future__ import annotations

import os
import shutil

import card_hosts
import pytest
from tollbar.machine import card_daemons, paths


@pytest.fixture(scope="session")
def hosts_can_have_cards() -> None:
    """Skips where hosts and the daemons of their cards cannot be started."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("no cards: not root, or no command ip, so hosts cannot be made")
    try:
        paths.program(card_daemons.DAEMON)
    except FileNotFoundError as error:
        pytest.skip(f"no cards: {error}")


@pytest.fixture(scope="module")
def network():
    """Hosts with a daemon each."""
    with card_hosts.network() as made:
        yield made


@pytest.fixture
def key() -> str:
    """A job's, in hexadecimal digits."""
    return card_hosts.new_key()

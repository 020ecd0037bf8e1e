# SPDX-License-Identifier: Apache-2.0
"""Tests that need something that scripts/setup installs, or make builds."""

import os
from typing import NoReturn

import pytest


def left_out(why: str) -> NoReturn:
    """Skips a test for want of such a thing; fails it with NO_SKIPS, as all of them must be there then."""
    if os.environ.get("NO_SKIPS"):
        pytest.fail(f"{why}, and must not be (NO_SKIPS)", pytrace=False)
    pytest.skip(why)

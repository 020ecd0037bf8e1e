# SPDX-License-Identifier: Apache-2.0
"""Each persistent barrier is one of its own, whatever else is started meanwhile."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("plan", ["turnstile", "dissemination"])
def test_ranks_start_two_persistent_barriers_in_different_orders(run, every_door, plan):
    run(every_door, 3, "started_apart", plan)

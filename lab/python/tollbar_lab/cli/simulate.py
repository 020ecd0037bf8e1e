# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate: simulates barriers on machines that are not here."""

from __future__ import annotations

import argparse

from tollbar.cli import ways

from tollbar_lab.cli import simulate_cluster, simulate_cores, simulate_nic, simulate_scheduler

#: Every simulator by the KIND it adds.
KINDS = {"scheduler": simulate_scheduler, "nic": simulate_nic, "cluster": simulate_cluster, "cores": simulate_cores}


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "simulate", __doc__, "KIND", KINDS)

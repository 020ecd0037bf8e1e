# SPDX-License-Identifier: Apache-2.0
"""tollbar logp: finds L, o and g, the numbers from which plans are priced, by measuring or fitting."""

from __future__ import annotations

import argparse

from tollbar.cli import logp_measure, ways


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "logp", __doc__, "WAY", {"measure": logp_measure})

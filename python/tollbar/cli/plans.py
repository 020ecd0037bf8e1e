# SPDX-License-Identifier: Apache-2.0
"""tollbar plans: lists the barrier algorithms with their parameters, restrictions and papers."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import tollbar
from tollbar.cli.table import Table, column, verb


@dataclass(frozen=True)
class Entry:
    plan: str = column("the name; the part in [] is optional")
    default: str | None = column("the parameters when none are given")
    restrictions: str | None = column("which parameters are accepted")
    inner: bool = column("may stand in front of @ or / in a two-level plan")
    paper: str | None = column("author and year of the first description")
    player: str | None = column("who plays its roles, the members that are no ranks")
    runs_on: str | None = column("what it is for; empty when it runs everywhere")


def add_parser(commands) -> None:
    parser = verb(commands, "plans", __doc__, Entry)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    rows = [_entry(algorithm) for algorithm in tollbar.catalogue()]
    two_levels = Entry(
        plan="INNER@K/OUTER",
        default=None,
        restrictions="K at least 1; groups of K ranks run INNER, their turning members run OUTER",
        inner=False,
        paper=None,
        player=None,
        runs_on=None,
    )
    on_nodes = replace(
        two_levels,
        plan="INNER/OUTER",
        restrictions="the same with the nodes of a communicator as groups",
        runs_on="MPI",
    )
    return Table([*rows, two_levels, on_nodes])


def _entry(algorithm: tollbar.Algorithm) -> Entry:
    parameters = f"[:{algorithm.parameters}]" if algorithm.parameters else ""
    return Entry(
        plan=algorithm.name + parameters,
        default=algorithm.defaults or None,
        restrictions=algorithm.restrictions or None,
        inner=algorithm.inner,
        paper=algorithm.paper,
        player=algorithm.player or None,
        runs_on=algorithm.runs_on or None,
    )

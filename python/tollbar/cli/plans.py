# SPDX-License-Identifier: Apache-2.0
"""tollbar plans: the catalogue of barrier algorithms, with their parameters, papers and restrictions."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import tollbar
from tollbar.cli.table import Table, column, describe_columns


@dataclass(frozen=True)
class Entry:
    plan: str = column("the name; the part in [] may be left out")
    default: str | None = column("what is taken when the parameters are left out")
    restrictions: str | None = column("which parameters are accepted")
    inner: bool = column("may stand in front of @ in a two-level plan")
    paper: str | None = column("author and year of the first description")


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "plans", help=__doc__.partition(": ")[2], description=__doc__, epilog=describe_columns(Entry)
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    rows = [_entry(algorithm) for algorithm in tollbar.catalogue()]
    two_levels = Entry(
        plan="INNER@K/OUTER",
        default=None,
        restrictions="K at least 1; groups of K ranks run INNER, their first ranks run OUTER",
        inner=False,
        paper=None,
    )
    return Table([*rows, two_levels])


def _entry(algorithm: tollbar.Algorithm) -> Entry:
    parameters = f"[:{algorithm.parameters}]" if algorithm.parameters else ""
    return Entry(
        plan=algorithm.name + parameters,
        default=algorithm.defaults or None,
        restrictions=algorithm.restrictions or None,
        inner=algorithm.rooted,
        paper=algorithm.paper,
    )

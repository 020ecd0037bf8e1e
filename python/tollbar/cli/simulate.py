# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate: what barriers cost on machines that are not here."""

from __future__ import annotations

import argparse

from tollbar.cli import simulate_nic, simulate_scheduler
from tollbar.cli.table import FORMATS, Table

#: Every simulator by the KIND it adds: a module with add_parser(kinds) and run(args) -> Table.
KINDS = {"scheduler": simulate_scheduler, "nic": simulate_nic}


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "simulate",
        help=__doc__.partition(": ")[2],
        description=__doc__,
        epilog="columns: `tollbar simulate KIND --help` says what those of each kind mean",
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for module in KINDS.values():
        module.add_parser(kinds)
    for kind in kinds.choices.values():
        kind.formatter_class = argparse.RawDescriptionHelpFormatter
        # Its default is that of `tollbar simulate`, which may have been given before the kind.
        kind.add_argument(
            "--format",
            choices=FORMATS,
            default=argparse.SUPPRESS,
            help="how to print the rows (default: table)",
        )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    return KINDS[args.kind].run(args)

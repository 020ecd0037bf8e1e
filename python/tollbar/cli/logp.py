# SPDX-License-Identifier: Apache-2.0
"""tollbar logp: the three numbers from which barriers are priced, found from measurements."""

from __future__ import annotations

import argparse

from tollbar.cli import logp_fit
from tollbar.cli.table import FORMATS, Table

#: Every way to find them by the name it adds: a module with add_parser(ways) and run(args) -> Table.
WAYS = {"fit": logp_fit}


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "logp",
        help=__doc__.partition(": ")[2],
        description=__doc__,
        epilog="columns: `tollbar logp WAY --help` says what those of each way mean",
    )
    ways = parser.add_subparsers(dest="way", metavar="WAY", required=True)
    for module in WAYS.values():
        module.add_parser(ways)
    for way in ways.choices.values():
        way.formatter_class = argparse.RawDescriptionHelpFormatter
        # Its default is that of `tollbar logp`, which may have been given before the way.
        way.add_argument(
            "--format",
            choices=FORMATS,
            default=argparse.SUPPRESS,
            help="how to print the rows (default: table)",
        )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    return WAYS[args.way].run(args)

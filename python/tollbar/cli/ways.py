# SPDX-License-Identifier: Apache-2.0
"""Verbs that have verbs of their own, such as `tollbar logp fit`: one way each to do what the verb is for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import ModuleType

from tollbar.cli.table import Table, add_format


def add_parser(
    commands: argparse._SubParsersAction, name: str, doc: str, word: str, ways: Mapping[str, ModuleType]
) -> None:
    """Adds the verb `name`, whose module has that `doc`. `word` is what its help calls a way; each way is a
    module with add_parser(ways), which adds it under its own name, and run(args) -> Table."""
    parser = commands.add_parser(
        name,
        help=doc.partition(": ")[2],
        description=doc,
        epilog=f"columns: `tollbar {name} {word} --help` says what those of each {word.lower()} mean",
    )
    chosen = parser.add_subparsers(dest="way", metavar=word, required=True)
    for module in ways.values():
        module.add_parser(chosen)
    for way in chosen.choices.values():
        way.formatter_class = argparse.RawDescriptionHelpFormatter
        add_format(way, argparse.SUPPRESS)  # the verb's own may have been given before the way

    def run(args: argparse.Namespace) -> Table:
        return ways[args.way].run(args)

    parser.set_defaults(run=run)

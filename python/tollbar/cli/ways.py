# SPDX-License-Identifier: Apache-2.0
"""Verbs that have verbs of their own, such as `tollbar logp fit`: one way each to do what the verb is for."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from tollbar.cli.table import add_format


def add_parser(
    commands: argparse._SubParsersAction, name: str, doc: str, word: str, ways: Mapping[str, Any], usual: str = ""
) -> None:
    """Adds the verb `name`, whose module has that `doc`. `word` is what its help calls a way; each way is a
    module with add_parser(ways), which adds it under its own name, and run(args) -> Table. The `usual` one is meant
    where none is named."""
    parser = commands.add_parser(
        name,
        help=doc.partition(": ")[2],
        description=doc,
        epilog=(f"{word}: {usual} where none is named\n" if usual else "")
        + f"columns: `tollbar {name} {word} --help` says what those of each {word.lower()} mean",
    )
    chosen = parser.add_subparsers(dest="way", metavar=word, required=not usual)
    parser.set_defaults(usual=usual)
    for way, module in ways.items():
        add(chosen, way, module)


def add(chosen: argparse._SubParsersAction, way: str, module: Any) -> None:
    """Adds one way, whose module is as above."""
    module.add_parser(chosen)
    chosen.choices[way].set_defaults(run=module.run)
    add_format(chosen.choices[way])

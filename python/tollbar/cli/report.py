# SPDX-License-Identifier: Apache-2.0
"""tollbar report: writes report.html, one page with the figures, tables and numbers of a stored run."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns


@dataclass(frozen=True)
class Written:
    """The page that was written."""

    file: str = column("the page")
    bytes: int = column("its size")
    launches: int = column("how many processes measured")
    run: str = column("the stored run that it shows")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("report", help=__doc__.partition(": ")[2], epilog=describe_columns(Written))
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help="default: report.html"
    )
    parser.add_argument(
        "--results", type=Path, metavar="DIR", help="a stored run, or a folder of runs (default: the newest)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar import results

    folder = results.chosen(args.results, "threads")
    if folder is None:
        raise WrongUse(f"{args.results or results.folder()} holds no run; `tollbar bench threads` makes one")
    stored = results.read_run(folder)
    if not stored.launches:
        raise WrongUse(f"{folder} holds no launch; run `tollbar bench threads` again")
    from tollbar import report

    page = report.page(stored).encode()
    part = args.output.with_name(args.output.name + ".part")
    part.write_bytes(page)
    os.replace(part, args.output)
    return Table([Written(str(args.output), len(page), len(stored.launches), folder.name)], Written)

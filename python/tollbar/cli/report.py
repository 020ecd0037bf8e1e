# SPDX-License-Identifier: Apache-2.0
"""tollbar report: writes report.html, one page with figures, tables and numbers of stored runs."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, describe_columns

if TYPE_CHECKING:
    from tollbar.data.results import Stored

KINDS = ("threads", "crowd", "mpi", "hybrid", "shmem", "udp", "work")


@dataclass(frozen=True)
class Written:
    """The page that was written."""

    file: str = column("the page")
    bytes: int = column("its size")
    launches: int = column("how many processes measured")
    run: str = column("the stored runs that it shows")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("report", help=__doc__.partition(": ")[2], epilog=describe_columns(Written))
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: report.html")
    parser.add_argument(
        "--results", type=Path, metavar="DIR",
        help="a stored run, or a folder of runs, of which the newest of each kind",
    )  # fmt: skip
    parser.add_argument(
        "--tables", action="store_true",
        help="writes the tables about MPI and OpenSHMEM instead, as Markdown (default: to report.md)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar.data import results

    folders = dict.fromkeys(run for kind in KINDS for run in results.all_chosen(args.results, kind))
    runs = [run for folder in folders if _has_a_place(run := results.read(folder))]
    if not runs:
        raise WrongUse(f"{args.results or results.folder()} holds no run; `tollbar bench threads` makes one")
    for empty in (run for run in runs if not run.launches):
        raise WrongUse(f"{empty.folder} holds no launch; run `tollbar bench` again")
    output = args.output or Path("report.md" if args.tables else "report.html")
    text = _tables(runs) if args.tables else _page(runs)
    part = output.with_name(output.name + ".part")
    part.write_bytes(text.encode())
    os.replace(part, output)
    names = " ".join(run.folder.name for run in runs)
    launches = sum(len(run.launches) for run in runs)
    return Table([Written(str(output), len(text.encode()), launches, names)], Written)


def _has_a_place(run: Stored) -> bool:
    """Of workloads those over hosts have a section; `tollbar reproduce nic` shows all of them."""
    return run.environment.get("kind") != "work" or "hosts" in run.environment.get("over", ())


def _page(runs: list[Stored]) -> str:
    from tollbar.report import page as report

    return report.page(*runs)


def _tables(runs: list[Stored]) -> str:
    from tollbar.report import sections

    text = sections.markdown(runs)
    if not text:
        raise WrongUse("no run of MPI is stored; `tollbar bench mpi` makes one")
    return text

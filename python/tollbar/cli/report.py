# SPDX-License-Identifier: Apache-2.0
"""tollbar report: writes report.html, one page with figures, tables and numbers of stored runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar import environment
from tollbar.cli import output
from tollbar.cli.errors import WrongUse
from tollbar.cli.table import Table, column, verb

if TYPE_CHECKING:
    from tollbar.data.results import Stored

KINDS = ("threads", "mpi", "hybrid", "shmem", "udp")


@dataclass(frozen=True)
class Written:
    """The page that was written."""

    file: str = column("the page")
    bytes: int = column("its size")
    launches: int = column("how many processes measured")
    run: str = column("the stored runs that it shows")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = verb(commands, "report", __doc__, Written)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: report.html")
    parser.add_argument(
        "results",
        nargs="*",
        type=Path,
        metavar="RUN",
        help="runs, or folders of runs, of which the newest about each thing (default: the results folder)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar.data import results

    named = args.results or [results.folder()]
    folders = dict.fromkeys(run for within in named for kind in KINDS for run in results.all_chosen(within, kind))
    runs = [results.read(folder) for folder in folders]
    if not runs:
        raise WrongUse(f"{', '.join(map(str, named))} holds no run; `tollbar bench threads` makes one")
    for empty in (run for run in runs if not run.launches):
        raise WrongUse(f"{empty.folder} holds no launch; run `tollbar bench` again")
    page = args.output or Path("report.html")
    if not page.parent.is_dir():
        raise WrongUse(f"{page}: there is no folder {page.parent}")
    files, answer = _pages(runs, page)
    for path, content in files.items():
        if path != page:
            path.parent.mkdir(exist_ok=True)
        output.write(path, content)
    names = " ".join(run.folder.name for run in runs)
    launches = sum(len(run.launches) for run in runs)
    beside = [f"{path} lies beside it" for path in files if path != page]
    doubts = [f"{run.folder.name} is incomplete" for run in runs if run.environment.get("incomplete")]
    noisy = dict.fromkeys(doubt for run in runs for doubt in run.environment.get("noise", ()))
    doubts += [f"the machine was not quiet: {doubt}" for doubt in noisy]
    notes = [*answer, *doubts, *beside]
    return Table([Written(str(page), len(files[page]), launches, names)], Written, notes=notes)


def _tuned(run: Stored) -> dict[tuple[str, int], str]:
    """The plans for groups of threads that are stored for the machine of that run, by placement and number."""
    from tollbar.data import tuning
    from tollbar.machine import facts

    try:
        entries = tuning.read(environment.tuning_file())
    except ValueError:  # whoever writes says what is wrong
        return {}
    machine = facts.short_id(run.environment)
    known = [entry.pairs for entry in entries if entry.kind == "threads" and entry.pairs.get("machine") == machine]
    return {("pinned" if pairs["pinned"] == "yes" else "free", int(pairs["ranks"])): pairs["plan"] for pairs in known}


def _pages(runs: list[Stored], named: Path) -> tuple[dict[Path, bytes], Sequence[str]]:
    """The report, and what is too big for a page; the answer in words."""
    from tollbar.report import page as report

    name = named.name if named.is_file() or not named.exists() else None
    made = report.pages(*runs, name=name, stored=_tuned(runs[0]))
    files = {named: made.report.encode()}
    folder = named.with_name(made.folder or named.name)
    return files | {folder / name: content for name, content in made.beside.items()}, made.answer

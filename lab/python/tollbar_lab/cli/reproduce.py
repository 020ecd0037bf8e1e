# SPDX-License-Identifier: Apache-2.0
"""tollbar reproduce: writes the tables and figures of five papers beside models and local measurements.

The papers are openmp-mpi (Seyedroudbari and Kadiyala), logp (Hoefler et al.), multiprogramming (Markatos et
al.), split-shmem (Raymond) and nic (Buntinas et al.). Models are computed; measurements are those that
`tollbar bench` has stored. Each table or figure becomes a CSV file and a picture; index.html has them all,
with those of other papers that are in the folder already.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar import children, files
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.progress import Progress
from tollbar.cli.table import Table, column, describe_columns

if TYPE_CHECKING:
    from tollbar_lab.papers.exhibit import Exhibit
    from tollbar_lab.papers.lacking import Lack
    from tollbar_lab.papers.stored import Stored
    from tollbar_lab.papers.write import Written

#: Each paper, and the kinds of bench that measure what it shows.
PAPERS = {
    "openmp-mpi": ("threads", "mpi", "hybrid"),
    "logp": ("mpi",),
    "multiprogramming": ("crowd",),
    "split-shmem": ("shmem",),
    "nic": ("udp", "work"),
}


@dataclass(frozen=True)
class Shown:
    """One table or figure."""

    paper: str = column("its short name")
    exhibit: str = column("table or figure, as the paper counts")
    title: str = column("what it shows", detail=True)
    published: int = column("numbers that the paper's text prints about it")
    modelled: int = column("numbers that the model gives")
    measured: int = column("numbers that were measured on this machine")
    worst_pct: float | None = column("largest difference between the model and the paper, in percent")
    measure_with: str | None = column("the command that would measure what is missing", detail=True)
    table: str = column("the CSV file", detail=True)
    picture: str | None = column("the SVG file", detail=True)
    sentence: str = column("the conclusion")


@dataclass(frozen=True)
class Wrong:
    """With `errata`: one statement of a paper that does not follow."""

    paper: str = column("its short name")
    where: str = column("section, table or figure")
    about: str = column("what is stated")
    printed: str = column("what the paper has")
    computed: str = column("what follows from its own words and numbers")


def add_parser(commands: argparse._SubParsersAction) -> None:
    about = __doc__.partition(": ")[2].partition("\n")[0]
    parser = commands.add_parser(
        "reproduce",
        help=about,
        description=__doc__,
        epilog=f"{describe_columns(Shown)}\n\nwith errata, {describe_columns(Wrong)}",
    )
    parser.add_argument(
        "paper",
        choices=(*PAPERS, "all", "errata"),
        metavar="PAPER",
        help=f"{', '.join(PAPERS)}, or all; errata: what does not follow in them, computed; writes no files",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="DIR", help="where to write (default: reproduce, in the results folder)"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--no-measured", action="store_true", help="leave out measurements: the same output on every machine"
    )
    how.add_argument(
        "--quick",
        action="store_true",
        help="first measure what an exhibit lacks, half a minute to two for each kind of bench that it needs",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    from tollbar.data import results

    from tollbar_lab.papers import lacking, write
    from tollbar_lab.papers.errata import all_errata
    from tollbar_lab.papers.stored import Stored

    if args.paper == "errata":
        if args.output or args.quick or args.no_measured:
            raise WrongUse("errata writes and measures nothing; leave out the other options")
        return Table([Wrong(**vars(erratum)) for erratum in all_errata()])
    names = list(PAPERS) if args.paper == "all" else [args.paper]
    runs = {name: Stored(nothing=args.no_measured) for name in names}
    exhibits, notes = _computed(runs), []
    if args.quick:
        answers = _measure(lacking.together(_lacks(exhibits)))
        runs = {name: Stored() for name in names}
        exhibits = _computed(runs)
        notes = _unmeasured(exhibits, answers)
    folder = args.output or results.folder() / "reproduce"
    written = [write.write(exhibit, folder) for exhibit in exhibits]
    files.write(
        folder / "index.html", write.page(written, {name: stored.used for name, stored in runs.items()}, folder)
    )
    notes.append(f"the pages, tables and pictures are in {folder}; start at {folder / 'index.html'}")
    return Table([_row(exhibit) for exhibit in written], Shown, notes=notes)


def _computed(runs: dict[str, Stored]) -> list[Exhibit]:
    """The exhibits of each paper from its runs."""
    from tollbar_lab.papers import MAKERS

    exhibits = []
    with Progress("computing", total=len(runs)) as progress:
        for name, stored in runs.items():
            progress.advance(0, name)
            exhibits += MAKERS[name](stored)
            progress.advance(1)
    return exhibits


def _lacks(exhibits: list[Exhibit]) -> list[Lack]:
    return [exhibit.missing for exhibit in exhibits if exhibit.missing]


def _measure(wanted: list[Lack]) -> dict[str, str]:
    """Runs the quick form of each bench of which something is lacking; by its kind, the last that it said."""
    from tollbar.data import results

    from tollbar_lab.papers import lacking

    said = {}
    with Progress("measuring", total=len(wanted)) as progress:
        for lack in wanted:
            progress.advance(0, lack.command)
            before = results.by_age(results.folder(), lacking.stored_as(lack.kind))
            finished = children.run([sys.executable, "-m", "tollbar", *_here(lack).words, "--effort", "quick"])
            said[lack.kind] = (finished.errors.strip().splitlines() or ["it printed nothing"])[-1]
            if finished.exit_code == 1 and results.by_age(results.folder(), lacking.stored_as(lack.kind)) != before:
                raise CheckFailed(said[lack.kind])  # what it measured is no barrier
            progress.advance(1)
    return said


def _here(lack: Lack) -> Lack:
    """The same without settings that no MPI of this machine has: a bench refuses these."""
    from tollbar.campaigns import mpi

    if lack.kind != "mpi":
        return lack
    known = mpi.names()
    return replace(lack, names=tuple(name for name in lack.names if "[" not in name or name in known))


def _unmeasured(exhibits: list[Exhibit], said: dict[str, str]) -> list[str]:
    """A note for each bench that left an exhibit without something, and for each command that is not quick."""
    from tollbar_lab.papers import lacking

    left = [
        f"{lack.command} --effort quick does not measure that here: {said[lack.kind]}"
        for lack in lacking.together(_lacks(exhibits))
    ]
    others = [
        f"{exhibit.paper}, {exhibit.number}: --quick leaves that to {exhibit.missing.command}"
        for exhibit in exhibits
        if exhibit.missing and exhibit.missing.options
    ]
    return left + others


def _row(written: Written) -> Shown:
    exhibit = written.exhibit
    published, modelled, measured = exhibit.counts
    return Shown(
        exhibit.paper,
        exhibit.number,
        exhibit.title,
        published,
        modelled,
        measured,
        exhibit.worst(),
        exhibit.missing.command if exhibit.missing else None,
        str(written.table),
        str(written.picture) if written.picture else None,
        exhibit.conclusion,
    )

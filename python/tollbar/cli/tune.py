# SPDX-License-Identifier: Apache-2.0
"""tollbar tune: picks the fastest safe barrier for each situation and stores it for the library."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tollbar import environment
from tollbar.cli import tune_mpi, tune_threads
from tollbar.cli.errors import CheckFailed, WrongUse
from tollbar.cli.table import Table, describe_columns

if TYPE_CHECKING:
    from tollbar.data.tuning import Entry


def add_parser(commands: argparse._SubParsersAction) -> None:
    columns = f"threads: {describe_columns(tune_threads.Tuned)}\n\nmpi: {describe_columns(tune_mpi.TunedMpi)}"
    parser = commands.add_parser("tune", help=__doc__.partition(": ")[2], epilog=columns)
    parser.add_argument(
        "kind", nargs="?", choices=("threads", "mpi"), default="threads",
        help="threads: from stored measurements; mpi: measures each MPI that is here (default: threads)",
    )  # fmt: skip
    tune_threads.add_arguments(parser)
    tune_mpi.add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> Table:
    path = environment.tuning_file()
    if args.kind == "threads":
        entries, table = tune_threads.run(args, _stored(path))
    elif args.results or args.force:
        raise WrongUse(
            f"--{'results' if args.results else 'force'} is for threads; `tollbar tune mpi` measures itself"
        )
    else:
        entries, table = tune_mpi.run(args)
    if entries:
        store(path, entries)
    return replace(
        table, notes=[*table.notes, f"{len(entries)} of {len(table.rows)} choices stored in {path}"]
    )


def _stored(path: Path) -> list[Entry]:
    from tollbar.data import tuning

    try:
        return tuning.read(path)
    except ValueError:  # whoever writes says what is wrong
        return []


def store(path: Path, entries: list[Entry]) -> None:
    """Merges the entries into the file; one line on stderr when a damaged one had to be put aside."""
    from tollbar.data import tuning

    try:
        written = tuning.write(path, entries)
    except OSError as error:
        raise CheckFailed(
            f"{error.filename or path}: {error.strerror}; set TOLLBAR_TUNING to a file that can be written"
        ) from None
    if written.put_aside:
        kept = Path(written.put_aside).name
        print(f"tollbar tune: {path} was corrupt ({written.damage}); kept as {kept}", file=sys.stderr)

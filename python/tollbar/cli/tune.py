# SPDX-License-Identifier: Apache-2.0
"""tollbar tune: picks the fastest safe barrier for each situation and stores it for the library."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tollbar import environment
from tollbar.cli import tune_mpi, tune_threads, ways
from tollbar.cli.errors import CheckFailed
from tollbar.cli.table import Table, verb

if TYPE_CHECKING:
    from tollbar.data.tuning import Entry


def add_parser(commands: argparse._SubParsersAction) -> None:
    ways.add_parser(commands, "tune", __doc__, "WHAT", {kind.name: kind for kind in (_THREADS, _MPI)}, "threads")


@dataclass(frozen=True)
class _Tune:
    """One sub-verb: threads, from stored measurements; mpi, which measures each MPI that is here."""

    name: str
    module: ModuleType
    row: type

    def add_parser(self, kinds: argparse._SubParsersAction) -> None:
        parser = verb(kinds, self.name, self.module.__doc__ or "", self.row)
        self.module.add_arguments(parser)

    def run(self, args: argparse.Namespace) -> Table:
        path = environment.tuning_file()
        return _store(path, *self.module.run(args, _stored(path)))


_THREADS = _Tune("threads", tune_threads, tune_threads.Tuned)
_MPI = _Tune("mpi", tune_mpi, tune_mpi.TunedMpi)


def _store(path: Path, entries: list[Entry], table: Table) -> Table:
    if entries:
        store(path, entries)
    return replace(table, notes=[*table.notes, f"{len(entries)} of {len(table.rows)} choices stored in {path}"])


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

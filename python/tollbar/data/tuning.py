# SPDX-License-Identifier: Apache-2.0
"""The tuning file: one line a situation, read by the library when a group is made, written by `tollbar tune`.

    threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto verdict=best latency_ns=5100 ...
    mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=turnstile ...

Its grammar and its writer are the library's, which adds `mpi` lines itself when it chose by measuring.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tollbar import _native

Entry = _native.TuningEntry


class Written(NamedTuple):
    """The outcome of a write: how many situations the file holds now, and where a damaged file was put aside."""

    entries: int
    damage: str = ""
    put_aside: str = ""


def read(path: Path) -> list[Entry]:
    """The stored choices; none where there is no file. Raises ValueError that names the first wrong line."""
    return _native.read_tuning(str(path))


def write(path: Path, entries: Iterable[Entry]) -> Written:
    """Merges the entries into the file: a situation that is there already is replaced, the others stay.

    A reader sees the old file or the new one. A file that makes no sense is kept beside it with `.bad` added.
    Raises OSError, with the file's name, where nothing can be written.
    """
    return Written(*_native.merge_tuning(str(path), list(entries)))

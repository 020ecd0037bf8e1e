# SPDX-License-Identifier: Apache-2.0
"""The tuning file: one line a situation, read by the library when a group is made, written by `tollbar tune`.

The first line is `tollbar-tuning 1`; every other one is a word for the kind of group and `key=value` pairs:

    threads ranks=8 cpus=2 pinned=no plan=turnstile wait=auto verdict=best latency_ns=5100 ...
    mpi ranks=8 nodes=1 per_node=8 crowded=yes mpi=openmpi-4.1.4 objective=latency plan=turnstile ...

The library adds `mpi` lines itself, when it chose a communicator's barrier by measuring. Lines of kinds that
are not known here stay as they are. Writers hold a lock while they read, merge and replace the file, so that
none loses what another wrote.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HEADER = "tollbar-tuning 1"
#: What names a situation of each kind, and what else its line has to say.
_KEYS = {
    "threads": ("ranks", "cpus", "pinned"),
    "mpi": ("ranks", "nodes", "per_node", "crowded", "mpi", "objective"),
}
_ORDER = {"threads": ("cpus", "pinned", "ranks"), "mpi": ("mpi", "objective", "nodes", "ranks", "crowded")}
_CHOICES = {"threads": ("plan", "wait"), "mpi": ("plan",)}
_NUMBERS = ("ranks", "cpus", "nodes", "per_node")
_SWITCHES = ("pinned", "crowded")


class CorruptTuning(ValueError):
    """The file is not a tuning file; the text names the line and what it should be."""


@dataclass(frozen=True)
class Entry:
    """One situation and what to use in it. Pairs that are not known here are kept as they are."""

    kind: str
    pairs: Mapping[str, str]
    verbatim: str = ""  #: the whole line, of a kind that is not known here

    @property
    def key(self) -> tuple[str, ...]:
        return self.kind, self.verbatim, *(self.pairs[name] for name in _KEYS.get(self.kind, ()))

    @property
    def line(self) -> str:
        return self.verbatim or " ".join(
            [self.kind, *(f"{name}={value}" for name, value in self.pairs.items())]
        )


def parse_entry(line: str) -> Entry:
    """Raises ValueError that says what is wrong with the line."""
    kind, *words = line.split()
    if kind not in _KEYS:
        return Entry(kind, {}, line)
    pairs = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            raise ValueError(f"'{word}' is not key=value")
        pairs[name] = value
    for name in (*_KEYS[kind], *_CHOICES[kind]):
        if name not in pairs:
            raise ValueError(f"'{name}=' is missing")
    for name in _KEYS[kind]:
        value = pairs[name]
        if name in _NUMBERS and not (value.isascii() and value.isdigit() and int(value)):
            raise ValueError(f"{name}={value} is not a whole number, at least 1")
        if name in _SWITCHES and value not in ("yes", "no"):
            raise ValueError(f"{name}={value} is not yes or no")
    return Entry(kind, pairs)


def parse(text: str) -> list[Entry]:
    """The entries of a file's text. Raises CorruptTuning."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise CorruptTuning(f"line 1 is not '{HEADER}'")
    entries = []
    for number, line in enumerate(lines[1:], 2):
        if line.strip():
            try:
                entries.append(parse_entry(line))
            except ValueError as error:
                raise CorruptTuning(f"line {number}: {error}") from None
    return entries


def read(path: Path) -> list[Entry]:
    """The stored choices; none where there is no file. Raises CorruptTuning."""
    try:
        return parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise CorruptTuning("it is not text") from None


@dataclass(frozen=True)
class Written:
    """What a write did: how many situations the file holds now, and where a corrupt file was put aside."""

    entries: int
    why_corrupt: str | None = None
    put_aside: Path | None = None


def write(path: Path, entries: Iterable[Entry]) -> Written:
    """Merges the entries into the file: a situation that is there already is replaced, the others stay.

    The file is replaced in one step, so a reader sees the old one or the new one. A file that makes no sense
    is kept beside it with `.bad` added. Raises OSError, with the file's name, where nothing can be written.
    """
    path = path.resolve()  # a link keeps pointing at the file, which is what is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        aside, why = None, None
        try:
            merged = {entry.key: entry for entry in read(path)}
        except CorruptTuning as error:
            merged, why = {}, str(error)
            aside = _put_aside(path)
        merged.update({entry.key: entry for entry in entries})
        ordered = sorted(merged.values(), key=_order)
        _replace(path, "\n".join([HEADER, *(entry.line for entry in ordered)]) + "\n")
    return Written(len(ordered), why, aside)


def _order(entry: Entry) -> tuple[bool, str, list[int | str]]:
    """By kind, those that are not known last; then by what _ORDER names."""
    names = _ORDER.get(entry.kind, ())
    values = [int(entry.pairs[name]) if name in _NUMBERS else entry.pairs[name] for name in names]
    return entry.kind not in _KEYS, entry.kind, [*values, entry.line]


def _put_aside(path: Path) -> Path:
    number, aside = 1, path.with_name(path.name + ".bad")
    while aside.exists():  # an earlier corrupt file is somebody's data too
        number += 1
        aside = path.with_name(f"{path.name}.bad{number}")
    path.rename(aside)
    return aside


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """The lock is a file of its own: the tuning file is replaced, and a lock on it would go with it."""
    descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o644)  # mkstemp makes it private, but other users' programs may read it
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise

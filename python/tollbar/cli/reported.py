# SPDX-License-Identifier: Apache-2.0
"""The lines that a watched job reports by: what is for people is shown, what is for us is kept."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tollbar import _native
from tollbar.look import gathered

_LONGEST_LINE = 65536
_MOST_LINES = 100_000  #: kept at a time: who writes more cannot use up the memory


def write(text: bytes) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.buffer.write(text)
        sys.stderr.buffer.flush()


class Shown:
    """The place for people where what is reported goes: stderr, or a file of reports."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._spoken = gathered.Spoken()

    def put(self, text: str) -> None:
        """One report, as it is made."""
        line = f"tollbar: {text}\n".encode()
        if self._file is None:
            write(line)
            return
        with contextlib.suppress(OSError), self._file.open("ab") as file:
            file.write(line)

    def say(self, missing: Sequence[_native.Missing]) -> None:
        """On stderr a few lines; to a file of reports all of them."""
        for text in self._spoken.lines(missing) if self._file is None else [one.text for one in missing]:
            self.put(text)


class _Sealed:
    """The lines of tollbar's that bear a run's seal. A report is shown when it comes."""

    def __init__(self, secret: gathered.Secret, shown: Shown) -> None:
        self.shown = shown
        self.account: list[str] = []
        self._secret = secret
        self._lines: list[gathered.SealedLine] = []

    def take(self, line: gathered.SealedLine) -> None:
        if line.facts == gathered.ACCOUNT:
            self.account.append(line.text)
            return
        if line.is_report:
            self.shown.put(line.text)
        if len(self._lines) < _MOST_LINES:
            self._lines.append(line)

    def new(self) -> list[gathered.SealedLine]:
        taken = self._lines[:]
        del self._lines[: len(taken)]
        return taken


class CopiedLines(_Sealed):
    """The output of a pipe goes to stderr at once, without the lines that bear the seal."""

    def __init__(
        self, pipe: int, secret: gathered.Secret, shown: Shown, pass_on: Callable[[bytes], None] | None = None
    ) -> None:
        """`pass_on` gets those, if there is one, with their ends."""
        super().__init__(secret, shown)
        self.others: Callable[[], Iterable[bytes]] = list  #: gives lines that have come from elsewhere
        self._pass_on = pass_on
        self._copying = threading.Thread(target=self._copy, args=(pipe,), daemon=True)
        self._copying.start()

    def _copy(self, pipe: int) -> None:
        begun, shown = b"", 0  # a line that has no end yet, and how much of it is on stderr
        while got := os.read(pipe, 65536):
            *whole, begun = (begun + got).split(b"\n")
            for line in whole:
                self._put(line + b"\n", shown)
                shown = 0
            if b"tollbar: " not in begun or len(begun) > _LONGEST_LINE:
                write(begun[shown:])
                shown = len(begun)
            if len(begun) > _LONGEST_LINE:
                begun, shown = b"", 0
        self._put(begun, shown)

    def _put(self, line: bytes, shown: int) -> None:
        sealed = self._secret.unseal(line)
        write(gathered.for_people(line, sealed is not None)[shown:])
        if sealed and self._pass_on:
            self._pass_on(line[line.rfind(b"tollbar: ") :])
        elif sealed:
            self.take(sealed)

    def new(self) -> list[gathered.SealedLine]:
        for line in self.others():
            if sealed := self._secret.unseal(line):
                self.take(sealed)
        return super().new()

    def close(self) -> None:
        self._copying.join(1.0)  # what the command has left behind may keep the pipe open


class AppendedLines(_Sealed):
    """The lines that a file gets to which the job appends. Others than ours are shown as they are."""

    def __init__(self, path: Path, secret: gathered.Secret, shown: Shown) -> None:
        super().__init__(secret, shown)
        self._path = path
        self._at = 0

    def new(self) -> list[gathered.SealedLine]:
        with contextlib.suppress(OSError), self._path.open("rb") as file:
            file.seek(self._at)
            whole = file.read().rpartition(b"\n")
            self._at += len(whole[0] + whole[1])
            for line in whole[0].splitlines():
                if sealed := self._secret.unseal(line):
                    self.take(sealed)
                else:
                    self.shown.put(line.decode(errors="replace").removeprefix("tollbar: "))
        return super().new()

    def close(self) -> None:
        """All that was reported is shown."""
        self._lines[:0] = self.new()

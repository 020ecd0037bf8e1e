# SPDX-License-Identifier: Apache-2.0
"""The words of `tollbar bench` while it measures, and after it, whatever it measures."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from tollbar.cli.errors import CheckFailed
from tollbar.cli.progress import Progress

if TYPE_CHECKING:
    from tollbar.campaigns.passes import Outcome


def finished(outcome: Outcome) -> tuple[Path, bool]:
    """Says on stderr what was not available; gives the folder, and whether one was no barrier."""
    doubts = [f"the machine was not quiet: {reason}" for reason in outcome.noise]
    for line in (*doubts, *outcome.notes, *outcome.failures):
        print(f"tollbar bench: {line}", file=sys.stderr)
    if not any(outcome.folder.glob("*.jsonl.gz")):
        raise CheckFailed(f"no program could measure: {outcome.failures[0] if outcome.failures else 'nothing ran'}")
    return outcome.folder, outcome.unsafe


class MeasuringProgress:
    """Shows how far the measuring is: a bar on a terminal, else a line about every ten seconds."""

    _EVERY_S = 10.0

    def __init__(self, total: int) -> None:
        self._progress = Progress("measuring", total)
        self._began = self._said = time.monotonic()

    def __enter__(self) -> MeasuringProgress:
        self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.__exit__(kind, error, trace)

    def report(self, done: int, total: int, what: str) -> None:
        if done:
            self._progress.advance(label=what)
        now = time.monotonic()
        if not sys.stderr.isatty() and done and (now - self._said > self._EVERY_S or done == total):
            left = (now - self._began) / done * (total - done)
            print(f"measured {done} of {total} ({what}); about {left:.0f} s left", file=sys.stderr, flush=True)
            self._said = now

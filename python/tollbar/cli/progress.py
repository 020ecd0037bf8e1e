# SPDX-License-Identifier: Apache-2.0
"""A progress bar that appears on a terminal once the work has taken two seconds, and not before."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item")
PATIENCE_S = 2.0


class Progress:
    """Counts steps towards `total`; shows them on stderr when stderr is a terminal.

    with Progress("measuring", total=len(launches)) as progress:
        for launch in launches:
            progress.advance(label=launch.name)
    """

    def __init__(self, label: str, total: float) -> None:
        self._label = label
        self._total = total
        self._done = 0.0
        self._bar: Any = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(PATIENCE_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
            self._total = 0  # a timer that has fired already finds nothing to show

    def advance(self, steps: float = 1, label: str | None = None) -> None:
        """Notes that `steps` more are done; `label` says what comes next."""
        with self._lock:
            self._done += steps
            self._label = label or self._label
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], completed=self._done, description=self._label)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        with self._lock:
            if not self._total:
                return
            self._bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._label, total=self._total, completed=self._done)
            self._bar.start()


def track(items: Sequence[Item], label: str) -> Iterator[Item]:
    """The items one by one, with a bar."""
    with Progress(label, total=len(items)) as progress:
        for item in items:
            yield item
            progress.advance()

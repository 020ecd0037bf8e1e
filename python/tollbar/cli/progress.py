# SPDX-License-Identifier: Apache-2.0
"""A progress bar that appears on a terminal once the work has taken two seconds, and not before."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE_S, REFRESH_S = 2.0, 0.2
WIDTH = 40


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
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._shower = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            self._shower.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._shower.is_alive():
            self._shower.join()

    def advance(self, steps: float = 1, label: str | None = None) -> None:
        """Notes that `steps` more are done; `label` says what comes next."""
        with self._lock:
            self._done += steps
            self._label = label or self._label

    def _show(self) -> None:
        if self._ended.wait(PATIENCE_S):
            return
        while True:
            print(f"\r{self._line()}\033[K", end="", file=sys.stderr, flush=True)
            if self._ended.wait(REFRESH_S):
                break
        print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _line(self) -> str:
        """Label, bar, seconds since the beginning and, once something is done, seconds that are left."""
        with self._lock:
            label, done = self._label, min(self._done / self._total, 1.0) if self._total else 1.0
        taken_s = time.monotonic() - self._begun
        left = f", {_clock(taken_s / done - taken_s)} left" if done else ""
        bar = ("#" * round(done * WIDTH)).ljust(WIDTH, ".")
        return f"{label} {bar} {_clock(taken_s)}{left}"[: shutil.get_terminal_size().columns - 1]


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def track(items: Sequence[Item], label: str) -> Iterator[Item]:
    """The items one by one, with a bar."""
    with Progress(label, total=len(items)) as progress:
        for item in items:
            yield item
            progress.advance()

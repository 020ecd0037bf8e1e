# SPDX-License-Identifier: Apache-2.0
"""Ends whatever this process has started, whoever stood in between.

A launcher that is killed leaves its ranks, and `timeout` makes a group of its own, so neither a process group nor a
list of children finds everybody. Linux gives orphans to the nearest ancestor that asks for them, so all of them stay
descendants of this process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess

_SET_CHILD_SUBREAPER, _GET_CHILD_SUBREAPER = 36, 37  # of prctl(2)
_PATIENCE_S = 2.5  #: for whoever is asked to end
_FORCE_S = 1.5  #: for the kernel to end whoever has not
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_released: set[int] = set()


class Ended(NamedTuple):
    """How a command ended; exit_code is None when it ran past its time limit and was ended."""

    exit_code: int | None
    output: str
    errors: str


def release(process: int) -> None:
    """That one goes on when this process ends."""
    _released.add(process)


@contextlib.contextmanager
def none_left() -> Iterator[None]:
    """Whatever is started meanwhile has ended afterwards, with all that it has started. Processes that were here before
    go on, and so do those that they start."""
    own = os.getpid()
    before = living(own)
    former = is_subreaper()
    be_subreaper(True)
    try:
        yield
    finally:
        end(own, before)
        be_subreaper(former)


def run(
    command: Sequence[str],
    limit_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    silent_s: float | None = None,
) -> Ended:
    """Runs a command to its end, or ends it when `limit_s` seconds are over, or `silent_s` in which it has printed
    nothing at all; nothing that it started stays. Raises OSError where it cannot be started."""
    import subprocess
    import tempfile

    # Files in place of pipes: whoever outlives the command would keep a pipe open.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with none_left():
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
            exit_code = _waited(process, limit_s if silent_s is None else silent_s)
            if exit_code is None and silent_s is not None and os.fstat(output.fileno()).st_size:
                exit_code = _waited(process, limit_s)
        process.poll()
        return Ended(exit_code, _text(output), _text(errors))


def _waited(process: subprocess.Popen[bytes], limit_s: float | None) -> int | None:
    """The exit code; None when the limit is over."""
    import subprocess

    try:
        ended = os.pidfd_open(process.pid)
    except OSError:  # a kernel before 5.3
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(threading.TIMEOUT_MAX if limit_s is None else limit_s)
        return process.poll()
    try:
        readable(ended, limit_s)
    finally:
        os.close(ended)
    return process.poll()


def readable(file: int, limit_s: float | None = None) -> bool:
    """Waits until something can be read there; False when the limit is over.

    Every signal is heard meanwhile. A read or waitpid would go on after one whose handler restarts calls, as that
    for SIGINT does which polars installs.
    """
    waiting = select.poll()
    waiting.register(file, select.POLLIN)
    return bool(waiting.poll(None if limit_s is None else 1e3 * limit_s))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def living(of: int, kept: Collection[int] = ()) -> set[int]:
    """All processes that descend from that one and have not ended, without those kept and what these have started."""
    if of == os.getpid() and not _has_children():
        return set()
    children: dict[int, list[int]] = {}
    ended = set()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(name))
                if fields[0] in (b"Z", b"X") and fields[17] in (b"0", b"1"):  # its other threads may run on
                    ended.add(int(name))
    descendants: set[int] = set()
    generation = [of]
    while generation:
        below = (child for parent in generation for child in children.get(parent, ()))
        generation = [child for child in below if child not in descendants and child not in kept]
        descendants.update(generation)
    return descendants - ended


def end(of: int, kept: Collection[int] = ()) -> None:
    """Asks all descendants of that process to end, but those kept or released and what these have started; kills who
    does not in time."""
    if not living(of, kept):
        return
    with _uninterrupted():
        notified: set[int] = set()
        began = time.monotonic()
        while left := living(of, {*kept, *_released}):
            passed = time.monotonic() - began
            if passed > _PATIENCE_S + _FORCE_S:  # the kernel does not let go of them
                return
            is_forced = passed > _PATIENCE_S
            for process in left if is_forced else left - notified:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL if is_forced else signal.SIGTERM)
            notified |= left
            time.sleep(0.01)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Signals that would end this process have to wait, a few seconds at most."""
    heard: list[int] = []
    former = {number: signal.getsignal(number) for number in _ENDINGS}
    if threading.current_thread() is not threading.main_thread():  # others hear no signals
        former = {}
    former = {number: handler for number, handler in former.items() if handler not in (None, signal.SIG_IGN)}
    for number in former:
        signal.signal(number, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        for ending in heard:
            signal.raise_signal(ending)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def is_subreaper() -> bool:
    """Whether what loses its parent below this process becomes its child."""
    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def be_subreaper(whether: bool) -> None:
    """Makes this process the one whose child becomes what loses its parent below it, or no more."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(whether), 0, 0, 0)

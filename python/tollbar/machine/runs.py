# SPDX-License-Identifier: Apache-2.0
"""Runs of the ranks of one step, which have joined that of rank 0: it hears the lines that their ranks report, and
tells them to end.

keeper.py has the other end of the first lines:

    ask 1 NONCE
    keeper 1 CHALLENGE SEAL
    join 1 CHALLENGE NONCE SEAL
    yes SEAL                        then lines of reports; and, as the last one of rank 0's run, end SEAL"""

from __future__ import annotations

import contextlib
import resource
import secrets
import select
import selectors
import socket
import threading
from collections import deque
from dataclasses import dataclass

from tollbar import _native

_LIMIT_S = 5.0  #: for what is said first
_LATE_S = 1.0  #: for a line: who does not take it in that time is joined no more
_TICK_S = 0.1
_MOST_BYTES = 65536  #: of a line
_MOST_LINES = 100_000  #: kept at a time
_MOST_RUNS = 1 << 16
_OTHER_FILES = 700  #: that this process may have open besides

#: The secret of a run.
Key = tuple[int, int]


def sealed(key: Key, text: str) -> str:
    """The seal of a text."""
    return f"{_native.siphash(key, text.encode()):016x}"


@dataclass
class _Run:
    socket: socket.socket
    end: bytes  #: the line that ends it
    begun: bytes = b""  #: of a line


class Joined:
    """The runs that have joined this one. The keeper adds them; it listens while it is entered."""

    def __init__(self) -> None:
        self._runs: dict[socket.socket, _Run] = {}
        self._lines: deque[bytes] = deque(maxlen=_MOST_LINES)
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()  #: for the runs
        self._is_over = threading.Event()
        self._room = 0
        self._thread = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Joined:
        """After the command is started, which has the limit of open files that it would have without us."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _MOST_RUNS + _OTHER_FILES
        wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                soft = wanted
        self._room = _MOST_RUNS if soft == resource.RLIM_INFINITY else min(_MOST_RUNS, max(soft - _OTHER_FILES, 0))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        for one in list(self._runs.values()):
            self._remove(one)
        self._selector.close()

    @property
    def count(self) -> int:
        """How many there are now."""
        return len(self._runs)

    def add(self, connection: socket.socket, end: str) -> bool:
        """Takes the connection of a run over, and the line that ends that; False where there is no room."""
        with self._lock:
            if len(self._runs) >= self._room:
                return False
            self._runs[connection] = _Run(connection, f"{end}\n".encode())
            self._selector.register(connection, selectors.EVENT_READ)
        return True

    def new(self) -> list[bytes]:
        """The lines that have come since."""
        taken = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._lines.popleft())
        return taken

    def end(self) -> None:
        """Has all of them end their programs."""
        with self._lock:
            for one in self._runs.values():
                with contextlib.suppress(OSError):
                    one.socket.send(one.end)

    def _listen(self) -> None:
        while not self._is_over.is_set():
            for key, _ in self._selector.select(_TICK_S):
                if one := self._runs.get(key.fileobj):  # type: ignore[call-overload]
                    self._hear(one)

    def _hear(self, one: _Run) -> None:
        try:
            part = one.socket.recv(_MOST_BYTES)
        except BlockingIOError:
            return
        except OSError:
            part = b""
        *whole, one.begun = (one.begun + part).split(b"\n")
        self._lines.extend(whole)
        if not part or len(one.begun) > _MOST_BYTES:
            self._remove(one)

    def _remove(self, one: _Run) -> None:
        with self._lock:
            del self._runs[one.socket]
            self._selector.unregister(one.socket)
            one.socket.close()


class Joining:
    """This run's side, of one whose keeper has that value. Raises OSError where it cannot join."""

    def __init__(self, value: str) -> None:
        secret, port, host = value.split(":", 2)
        self._key = int(secret[:16], 16), int(secret[16:], 16)
        self._socket = socket.create_connection((host, int(port)), timeout=_LIMIT_S)
        try:
            self._end = self._join()
        except BaseException:
            self._socket.close()
            raise
        self._socket.settimeout(_LATE_S)
        self._lock = threading.Lock()  #: lines come from a thread
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._heard = b""
        self.is_joined = True

    def _join(self) -> bytes:
        """Gives the line that is the end."""
        nonce = secrets.token_hex(8)
        self._say(f"ask 1 {nonce}")
        words = self._line().split()
        challenge = words[2] if len(words) == 4 else ""
        greeting = f"keeper 1 {challenge}"
        if " ".join(words) != f"{greeting} {sealed(self._key, f'{greeting} {nonce}')}":
            raise ConnectionError("it is another run")
        text = f"join 1 {challenge} {nonce}"
        self._say(f"{text} {sealed(self._key, text)}")
        if self._line() != f"yes {sealed(self._key, f'yes {challenge} {nonce}')}":
            raise ConnectionError("it has no room")
        return f"end {sealed(self._key, f'end {challenge} {nonce}')}\n".encode()

    def _say(self, line: str) -> None:
        self._socket.sendall(f"{line}\n".encode())

    def _line(self) -> str:
        """A byte at a time: what comes behind it is for later."""
        line = b""
        while not line.endswith(b"\n") and len(line) < _MOST_BYTES:
            if not (part := self._socket.recv(1)):
                raise ConnectionError("it has gone")
            line += part
        return line[:-1].decode(errors="replace")

    def pass_on(self, line: bytes) -> None:
        """Tells a line, with its end, to rank 0's run."""
        with self._lock, contextlib.suppress(OSError):
            if self.is_joined:
                self.is_joined = False  # part of a line is none
                self._socket.sendall(line)
                self.is_joined = True

    def is_to_end(self) -> bool:
        """Whether the program of this rank is to end."""
        with contextlib.suppress(OSError):
            if self._readable.poll(0):  # a socket with a limit would be waited for
                self._heard += self._socket.recv(_MOST_BYTES)
        return self._heard[: len(self._end)] == self._end

    def close(self) -> None:
        """Rank 0's run hears that this one is over."""
        self._socket.close()

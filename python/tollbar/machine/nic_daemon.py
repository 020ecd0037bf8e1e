# SPDX-License-Identifier: Apache-2.0
"""Talks with the daemon that runs barriers on the network card, and with cards themselves."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

from tollbar.machine import paths

#: struct Request and struct Answer of src/nicd/client/talk.hpp.
_REQUEST = struct.Struct("=II QQ IIII 128s")
_ANSWER = struct.Struct("=Ii")
_TALK_MAGIC = 0x746E3131
_STATUS, _STOP = 1, 2


class DaemonError(Exception):
    """One line that says what is wrong."""


def _asked(path: str, verb: int) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as talk:
        talk.settimeout(5)
        try:
            talk.connect(path)
            talk.send(_REQUEST.pack(_TALK_MAGIC, verb, 0, 0, 0, 0, 0, 0, b""))
            answer = talk.recv(1 << 17)
        except OSError as error:
            raise DaemonError(f"no daemon at {path}: {error.strerror or error}") from None
    if len(answer) < _ANSWER.size:
        raise DaemonError(f"the daemon at {path} does not answer")
    magic, error = _ANSWER.unpack_from(answer)
    text = answer[_ANSWER.size :].decode()
    if magic != _TALK_MAGIC or error:
        raise DaemonError(text or f"the daemon at {path} is of another version")
    return text


def status(path: str) -> dict[str, Any]:
    """What the daemon says of its card and groups. Raises DaemonError."""
    return json.loads(_asked(path, _STATUS))


def stop(path: str) -> None:
    """Ends the daemon and waits until it is gone. Raises DaemonError."""
    _asked(path, _STOP)
    until = time.monotonic() + 5
    while os.path.exists(path) and time.monotonic() < until:
        time.sleep(0.01)


def start(interface: str, mode: str, path: str, options: list[str]) -> int:
    """Starts the daemon for good; gives its process. Raises DaemonError with what it says when it cannot."""
    try:
        program = paths.program("tollbar-nicd")
    except FileNotFoundError as error:
        raise DaemonError(str(error)) from None
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    command = [str(program), "--interface", interface, "--mode", mode, "--socket", path, *options]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    if process.stdout.readline().strip() != "ready":
        said = process.stderr.read().strip()
        process.wait()
        raise DaemonError(said.removeprefix("tollbar-nicd: ") or "the daemon ended at once")
    process.stdout.close()
    process.stderr.close()
    process.returncode = 0  # it outlives this program; nobody waits for it
    return process.pid


def echo_us(address: str) -> float | None:
    """How long a card takes to answer, microseconds; None when it does not. Raises DaemonError."""
    try:
        command = [str(paths.program("tollbar-nicd")), "--echo", address]
    except FileNotFoundError as error:
        raise DaemonError(str(error)) from None
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    if said := asked.stderr.strip():
        raise DaemonError(said.removeprefix("tollbar-nicd: "))
    return float(asked.stdout) if asked.returncode == 0 else None

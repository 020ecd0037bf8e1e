# SPDX-License-Identifier: Apache-2.0
"""Talks with the daemon that runs barriers on the network card, and with NICs themselves."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Literal

from tollbar import _native, children
from tollbar.machine import paths

_STARTING_S = 30.0  #: for the daemon to be ready, and for a NIC to answer


class DaemonError(Exception):
    """One line that says what is wrong."""


def _answer(path: str, verb: Literal["status", "stop"]) -> str:
    try:
        return _native.ask_nicd(path, verb)
    except RuntimeError as error:
        raise DaemonError(str(error)) from None


def status(path: str) -> dict[str, Any]:
    """The state of the daemon, its NIC and its groups, in its words. Raises DaemonError."""
    return json.loads(_answer(path, "status"))


def stop(path: str) -> None:
    """Ends the daemon and waits until it is gone. Raises DaemonError."""
    _answer(path, "stop")
    until = time.monotonic() + 5
    while os.path.exists(path) and time.monotonic() < until:
        time.sleep(0.01)


def start(interface: str, mode: str, path: str, options: list[str]) -> int:
    """Starts the daemon for good; gives its process. Raises DaemonError with what it says when it cannot."""
    try:
        program = paths.program("tollbar-nicd")
    except FileNotFoundError as error:
        raise DaemonError(str(error)) from None
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise DaemonError(f"{error.filename}: {error.strerror}; run it as root, or set TOLLBAR_NICD") from None
    command = [str(program), "--interface", interface, "--mode", mode, "--socket", path, *options]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None  # both are pipes, asked for above
    assert process.stderr is not None
    if not children.readable(process.stdout.fileno(), _STARTING_S):
        process.kill()
        process.wait()
        raise DaemonError(f"the daemon was not ready within {_STARTING_S:g} s and was ended")
    if process.stdout.readline().strip() != "ready":
        complaint = process.stderr.read().strip()
        process.wait()
        raise DaemonError(complaint.removeprefix("tollbar-nicd: ") or "the daemon ended at once")
    process.stdout.close()
    process.stderr.close()
    process.returncode = 0  # nobody waits for it
    children.release(process.pid)
    return process.pid


def echo_us(address: str) -> float | None:
    """How long a NIC takes to answer, microseconds; None when it does not. Raises DaemonError."""
    try:
        command = [str(paths.program("tollbar-nicd")), "--echo", address]
    except FileNotFoundError as error:
        raise DaemonError(str(error)) from None
    echo = children.run(command, _STARTING_S)
    if complaint := echo.errors.strip():
        raise DaemonError(complaint.removeprefix("tollbar-nicd: "))
    return float(echo.output) if echo.exit_code == 0 else None

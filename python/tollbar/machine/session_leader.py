# SPDX-License-Identifier: Apache-2.0
"""The program that is the first process of a session and starts the others (session.Session). It runs without any
packages, so it imports nothing but the standard library."""

from __future__ import annotations

import contextlib
import ctypes
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

_SWITCH = Path("/proc/sys/kernel/sched_autogroup_enabled")
_OWN = Path("/proc/self/autogroup")
_SET_CHILD_SUBREAPER = 36  # of prctl(2)
_PATIENCE_S = 5  #: for a command that is asked to end


def put_first(switch: Path = _SWITCH, own: Path = _OWN) -> str:
    """Puts this session before the others where that is needed and permitted; says what is now so."""
    try:
        if switch.read_text().strip() != "1":
            return "autogroups are off"
    except OSError:
        return "this kernel has no autogroups"
    try:
        own.write_text("-20")
    except OSError as error:
        return f"one session for all; not put before the others ({error.strerror})"
    return "one session for all, put before the others (autogroup nice -20)"


def nice(own: Path = _OWN) -> str:
    """The nice value of this session; empty where the kernel has no autogroups."""
    try:
        return own.read_text().split()[-1]
    except (OSError, IndexError):
        return ""


def serve(requests: TextIO, answers: TextIO, neighbours: int, first: bool, as_nice: str) -> None:
    """Answers each line that asks for a command, until there are no more."""
    if not first and as_nice != nice():
        with contextlib.suppress(OSError):
            _OWN.write_text(as_nice)
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whoever loses its parent stays in this tree
    loops = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(neighbours)]
    plain = "one plain session for all" + (f", with {neighbours} endless loops in it" if loops else "")
    print(json.dumps({"autogroup": put_first() if first else plain}), file=answers, flush=True)
    for line in requests:
        print(json.dumps(_execute(json.loads(line))), file=answers, flush=True)
    for loop in loops:
        loop.kill()
        loop.wait()


def _execute(wanted: Mapping[str, Any]) -> dict[str, Any]:
    began = time.monotonic()
    with open(wanted["output"], "wb") as output, open(wanted["errors"], "wb") as errors:
        try:
            process = subprocess.Popen(
                wanted["command"], stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=wanted["environment"]
            )
            exit_code = _exit_code(process, wanted["limit_s"])
        except OSError as error:
            exit_code = 127
            errors.write(f"{error.filename}: {error.strerror}".encode())
    return {"exit_code": exit_code, "seconds": time.monotonic() - began}


def _exit_code(process: subprocess.Popen[bytes], limit_s: float) -> int | None:
    """None when it ran past its limit. A launcher that is asked to end takes its ranks with it."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return None


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, int(sys.argv[1]), sys.argv[2] == "first", (sys.argv[3:] or [""])[0])

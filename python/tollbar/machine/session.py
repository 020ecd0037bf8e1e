# SPDX-License-Identifier: Apache-2.0
"""Runs commands one after another in one session of their own, which Linux schedules as one group.

With autogroups on, threads of different sessions share the processors by session, not by thread, and nice
ranks a thread only inside its own. Programs that are compared must therefore run in one session; where that is
permitted, the session is also put before the others. This file runs as a program too, as the first process of
the session, so it imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

_SWITCH = Path("/proc/sys/kernel/sched_autogroup_enabled")
_OWN = Path("/proc/self/autogroup")


@dataclass(frozen=True)
class Finished:
    """How a command ended; exit_code is None when it ran past its time limit and was ended."""

    exit_code: int | None
    seconds: float
    output: str
    errors: str


class SessionEnded(RuntimeError):
    """The session's leader has ended by itself, as one that the kernel ends for want of memory."""

    def __init__(self) -> None:
        super().__init__("the process that starts the measuring programs has ended")


class Session:
    """A context in which commands run in a new session.

    with Session(folder) as session:
        finished = session.run(["true"], limit_s=10)
    """

    def __init__(self, folder: Path, neighbours: int = 0, first: bool = True) -> None:
        """So many endless loops run in the same session. With any, or where it is not to be `first`, nothing
        puts it before others: it is scheduled like the one that it leaves."""
        self._output, self._errors = folder / "stdout", folder / "stderr"
        self._words = [str(neighbours), *(["first"] if first and not neighbours else ["plain", nice()])]

    def __enter__(self) -> Session:
        self._leader: Any = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.autogroup: str = self._answer()["autogroup"]
        return self

    def run(self, command: Sequence[str], limit_s: float, environment: Mapping[str, str] | None = None) -> Finished:
        """Runs one command to its end, or ends it when `limit_s` seconds are over. Raises SessionEnded."""
        wanted = {
            "command": list(command),
            "limit_s": limit_s,
            "environment": dict(os.environ if environment is None else environment),
            "output": str(self._output),
            "errors": str(self._errors),
        }
        try:
            self._leader.stdin.write(json.dumps(wanted) + "\n")
            self._leader.stdin.flush()
        except BrokenPipeError:
            raise SessionEnded from None
        answer = self._answer()
        output, errors = (path.read_text(encoding="utf-8", errors="replace") for path in (self._output, self._errors))
        return Finished(answer["exit_code"], answer["seconds"], output, errors)

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._leader.pid, signal.SIGTERM)  # the leader and, interrupted, what it was running
        with contextlib.suppress(BrokenPipeError):  # of a request that the leader did not live to read
            self._leader.stdin.close()
        self._leader.stdout.close()
        self._leader.wait()

    def _answer(self) -> dict[str, Any]:
        line = self._leader.stdout.readline()
        if not line:
            raise SessionEnded
        return json.loads(line)


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
            exit_code = subprocess.run(
                wanted["command"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=wanted["environment"],
                timeout=wanted["limit_s"],
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            exit_code = None
        except OSError as error:
            exit_code = 127
            errors.write(f"{error.filename}: {error.strerror}".encode())
    return {"exit_code": exit_code, "seconds": time.monotonic() - began}


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, int(sys.argv[1]), sys.argv[2] == "first", (sys.argv[3:] or [""])[0])

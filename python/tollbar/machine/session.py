# SPDX-License-Identifier: Apache-2.0
"""Runs commands one after another in one session of their own, which Linux schedules as one group.

With autogroups on, threads of different sessions share the processors by session, not by thread, and nice
ranks a thread only inside its own. Programs that are compared must therefore run in one session; where that is
permitted, the session is also put before the others.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tollbar import children
from tollbar.machine import session_leader


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
        self._words = [str(neighbours), *(["first"] if first and not neighbours else ["plain", session_leader.nice()])]

    def __enter__(self) -> Session:
        self._leader: Any = subprocess.Popen(
            [sys.executable, "-I", "-S", session_leader.__file__, *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.autogroup: str = self._answer()["autogroup"]
        self._own = children.living(self._leader.pid)
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
        children.end(self._leader.pid, self._own)  # the ranks of a launcher that has left them
        output, errors = (path.read_text(encoding="utf-8", errors="replace") for path in (self._output, self._errors))
        return Finished(answer["exit_code"], answer["seconds"], output, errors)

    def __exit__(self, *_: object) -> None:
        children.end(self._leader.pid)  # interrupted, what it was running
        with contextlib.suppress(BrokenPipeError):  # of a request that the leader did not live to read
            self._leader.stdin.close()
        self._leader.stdout.close()
        self._leader.kill()
        self._leader.wait()

    def _answer(self) -> dict[str, Any]:
        children.readable(self._leader.stdout.fileno())
        line = self._leader.stdout.readline()
        if not line:
            raise SessionEnded
        return json.loads(line)

# SPDX-License-Identifier: Apache-2.0
"""Runs `tollbar-look`, which reads other processes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from tollbar.machine import paths

PROGRAM = "tollbar-look"
PACKAGE = "libdw-dev"


class LookError(Exception):
    """The reason why the program cannot look, in one line."""


def available() -> str | None:
    """The command that brings the program; None where it is there."""
    try:
        paths.program(PROGRAM)
    except FileNotFoundError:
        return f"sudo apt-get install -y {PACKAGE} && {paths.mend()}"
    return None


def look(processes: Sequence[int]) -> dict[str, Any]:
    """Two looks at those processes and at the groups of this user."""
    if remedy := available():
        raise LookError(f"the program {PROGRAM} is not built: {remedy}")
    command = [str(paths.program(PROGRAM)), *map(str, processes)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        hint = "; sudo apt-get install -y libdw1" if "libdw" in done.stderr else ""
        raise LookError((done.stderr.strip() or f"{PROGRAM} ended with {done.returncode}") + hint)
    return dict(json.loads(done.stdout))

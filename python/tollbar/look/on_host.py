# SPDX-License-Identifier: Apache-2.0
"""The program that `tollbar who` runs on each host of a job: looks at the processes in question, and tells facts.

`python -m tollbar.look.on_host` reads a question, a line of JSON; says that it has looked once; looks again when the
next line comes, as all hosts do; and prints what it has seen, in sealed lines."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from typing import Any

from tollbar import __version__
from tollbar.look import facts, gathered, helper, processes, travelling

_NAME = "tollbar.look.on_host"
_APART_S = 0.1


def main() -> None:
    question = json.loads(sys.stdin.readline() or "{}")
    if not question:
        return
    secret = gathered.Secret(accounts=False, key=tuple(question["key"]))
    host = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
    if question["version"] != __version__:
        _tell(secret, host, travelling.VERSION, __version__)
        return

    def between() -> None:
        _tell(secret, host, travelling.READY)
        if not sys.stdin.readline():
            raise SystemExit  # nobody is there any more

    there = without_lookers(processes.everything())
    wanted = _wanted(question, there)
    if not wanted:
        between()
    try:
        seen = facts.watched(wanted, there, between, _APART_S) if wanted else facts.NOTHING
    except (facts.Refused, helper.LookError) as error:
        _tell(secret, host, travelling.REFUSED, str(error).replace(" ", "\N{NO-BREAK SPACE}"))
        return
    _tell(secret, host, travelling.ANSWER, travelling.packed(seen).decode())


def _tell(secret: gathered.Secret, host: str, what: str, content: str = "") -> None:
    sys.stdout.writelines(f"{line}\n" for line in travelling.lines(secret, host, what, content))
    sys.stdout.flush()


def without_lookers(there: dict[int, processes.Process]) -> dict[int, processes.Process]:
    """All but the processes of steps of a job that look at it, this one among them."""
    steps = {number: _step(processes.variables(number)) for number in there}
    looking = {steps[number] for number, one in there.items() if _NAME in one.words} - {None}
    return {number: one for number, one in there.items() if steps[number] not in looking}


def _step(variables: Mapping[str, str]) -> tuple[str, str] | None:
    job, step = variables.get("SLURM_JOB_ID"), variables.get("SLURM_STEP_ID")
    return (job, step) if job and step else None


def _wanted(question: Mapping[str, Any], there: dict[int, processes.Process]) -> list[int]:
    """The processes of the job, or of a step of it, and those that have one of the names; without any of that, this
    user's ranks of an MPI."""
    names = question["names"]
    if not question["job"] and not names:
        return processes.of_user(there)
    wanted = {"SLURM_JOB_ID": question["job"], "SLURM_STEP_ID": question["step"]}
    meant = {(name, value) for name, value in wanted.items() if value}
    called = [number for name in names for number in processes.meant(name, there)] if names else list(there)
    return [number for number in called if meant <= processes.variables(number).items()]


if __name__ == "__main__":
    main()

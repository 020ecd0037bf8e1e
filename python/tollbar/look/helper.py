# SPDX-License-Identifier: Apache-2.0
"""Runs `tollbar-look`, which reads other processes."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tollbar.look import processes
from tollbar.machine import paths

PROGRAM = "tollbar-look"
PACKAGE = "libdw-dev"
#: After it the program is ended. A look at a thousand threads takes some ten seconds.
LIMIT_S = 50.0
NAMES_LIMIT_S = 20.0


class LookError(Exception):
    """The reason why the program cannot look, in one line."""


def available() -> str | None:
    """The command that brings the program; None where it is there."""
    try:
        paths.program(PROGRAM)
    except FileNotFoundError:
        return f"sudo apt-get install -y {PACKAGE} && {paths.mend()}"
    return None


def look(numbers: Sequence[int], between: Callable[[], None] | None = None) -> dict[str, Any]:
    """Two looks at those processes and at the groups of this user; one where the second was not done in time. The
    second one begins when `between` returns, which is called after the first."""
    if remedy := available():
        raise LookError(f"the program {PROGRAM} is not built: {remedy}")
    command = [str(paths.program(PROGRAM)), *(["--when-told"] if between else []), *map(str, numbers)]
    try:
        done = _run(command, between)
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        looks = list(_looks(said if isinstance(said, str) else said.decode()))
        if not looks:
            raise LookError(f"{PROGRAM} has not answered for {LIMIT_S:g} s") from None
        return {"looks": looks}
    except OSError as error:
        raise LookError(f"{PROGRAM} cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        hint = "; sudo apt-get install -y libdw1" if "libdw" in done.stderr else ""
        raise LookError((done.stderr.strip() or f"{PROGRAM} ended with {done.returncode}") + hint)
    return {"looks": list(_looks(done.stdout))}


def _run(command: Sequence[str], between: Callable[[], None] | None) -> subprocess.CompletedProcess[str]:
    if between is None:
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as running:
        try:
            first = _first_look(running)
            between()
            said, errors = running.communicate(b"\n", LIMIT_S)
        except subprocess.TimeoutExpired:
            running.kill()
            raise subprocess.TimeoutExpired(command, LIMIT_S, first) from None
        except BaseException:
            running.kill()
            raise
    return subprocess.CompletedProcess(command, running.returncode, (first + said).decode(), errors.decode())


def _first_look(running: subprocess.Popen[bytes]) -> bytes:
    """The first look; what there is of it where the program has ended before, which it does after a while."""
    said, output = b"", running.stdout
    ending = threading.Timer(LIMIT_S, running.kill)
    ending.start()
    while output and not (said.endswith(b"}\n") and any(_looks(said.decode()))):
        if not (got := os.read(output.fileno(), 1 << 20)):
            break
        said += got
    ending.cancel()
    return said


def names(places: Mapping[str, tuple[str, int]]) -> dict[str, str]:
    """The names of places in files, `function (file:line)`, or `function (FILE+0xADDRESS)` without debug information;
    of none that is not found out. `places`: FILE+0xADDRESS, and the build id and the inode of the file."""
    wanted = [place for place, of_file in places.items() if "+0x" in place and any(of_file)]
    questions = (
        "\t".join((place.rpartition("+")[2], places[place][0], str(places[place][1]), place.rpartition("+")[0]))
        for place in wanted
    )
    if not wanted or available():
        return {}
    try:
        done = subprocess.run(
            [paths.program(PROGRAM), "--places"], input="".join(f"{question}\n" for question in questions),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=NAMES_LIMIT_S,
        )  # fmt: skip
        said = done.stdout
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")  # bytes, whatever the text is
    except OSError:
        return {}
    answers = (answer.split("\t") for answer in said.split("\n")[:-1])
    known = ((place, *answer) for place, answer in zip(wanted, answers) if len(answer) == 2 and answer[0])
    return {place: f"{function} ({line or place})" for place, function, line in known}


def trial() -> str | None:
    """Why a look at a process that this one starts sees nothing; None: it sees its frames."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        if refused := processes.refusal(child.pid):
            return refused
        try:
            seen = look([child.pid])["looks"][-1]["processes"]
        except LookError as error:
            return str(error)
        if any(thread["frames"] for process in seen for thread in process["threads"]):
            return None
    return f"{PROGRAM} sees no frame of a process of one's own"


def _looks(said: str) -> Iterator[Mapping[str, Any]]:
    """The looks that are there as a whole."""
    decoder, at = json.JSONDecoder(), 0
    while begin := said.find("{", at) + 1:
        try:
            look, at = decoder.raw_decode(said, begin - 1)
        except ValueError:  # cut off
            return
        yield look

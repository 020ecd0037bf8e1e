# SPDX-License-Identifier: Apache-2.0
"""Threads of Python programs: their functions inside the native stack, and the threading.Barrier they wait at, where
py-spy is installed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tollbar.look.sight import PYTHON_BARRIER, Frame, Thread

_PY_SPY = "py-spy"
#: A call in which a thread of Python waits for a lock, under which barriers, conditions and queues lie.
_LOCK = r"PyThread_acquire_lock_timed|_PyMutex_LockTimed|_PySemaphore_Wait"
_INTERPRETER = re.compile(r"(lib)?python\d")
#: The interpreter, or a module of Python's, tollbar's own among them, whose frames an unwinding may end in.
_RUNS_PYTHON = re.compile(rf"{_INTERPRETER.pattern}|.*\.(cpython-|abi3)")
_OF_MPI = re.compile(r"P?MPI_[A-Z]\w+$|ompi_mpi_|p?shmem_\w+$")
#: Folders of what a program does not bring itself.
_LIBRARIES = re.compile(r".*/(site|dist)-packages/|.*/lib/(python|pypy)[\d.]+/|<frozen ")
_BARRIER = re.compile(r"<(?:threading\.)?Barrier at (0x[0-9a-f]+)")
_LIMIT_S = 20
_ATTEMPTS = 3


def named(threads: Sequence[Thread]) -> tuple[list[Thread], list[str]]:
    """The threads, those that run Python with its frames; and what is missing for that, in sentences."""
    waiting = [thread for thread in threads if waits_for_lock(thread)]
    pythons = [thread for thread in threads if any(_RUNS_PYTHON.match(frame.module) for frame in thread.frames)]
    stacks: dict[int, tuple[Frame, ...]] = {}
    for process in dict.fromkeys(thread.process for thread in pythons) if _program() else ():
        stacks |= _dump(process)
    notes = [
        f"{len(own)} threads of process {process} wait for locks of Python's; what these belong to, perhaps a "
        f"barrier, is seen where {_PY_SPY} is installed (pip install {_PY_SPY})"
        for process in dict.fromkeys(thread.process for thread in waiting)
        if len(own := [thread for thread in waiting if thread.process == process]) > 1 and not _program()
    ]
    return [_with(thread, stacks.get(thread.thread)) for thread in threads], notes


def waits_for_lock(thread: Thread) -> bool:
    """Whether it waits for a lock of Python's, by the frames of the interpreter."""
    return thread.slept_on and thread.has(_LOCK)


def _with(thread: Thread, frames: tuple[Frame, ...] | None) -> Thread:
    """The thread with Python's frames in the place of the interpreter's. One in a call of an MPI keeps its native
    ones, by which two looks compare that call."""
    if not frames or any(_OF_MPI.match(frame.symbol) for frame in thread.frames):
        return thread
    before = None if _has_woken(thread) else thread.before
    now = dataclasses.replace(thread.now, frames=merged(thread, frames))
    return dataclasses.replace(thread, before=before, now=now)


def merged(thread: Thread, pythons: Sequence[Frame]) -> tuple[Frame, ...]:
    """The native frames that Python has called, then Python's, then those in which the thread began."""
    native = thread.frames
    inside = [at for at, frame in enumerate(native) if _INTERPRETER.match(frame.module)]
    called = [
        dataclasses.replace(frame, symbol=_plain(frame.symbol), of_library=True)
        for frame in (native[: inside[0]] if inside else ())
    ]
    return (*called, *pythons, *(frame for frame in native[inside[-1] + 1 if inside else len(native) :]))


def _plain(symbol: str) -> str:
    """The name by which programs know a function of the C library."""
    name = re.sub(r"^_*(libc_)?(?=[a-z])", "", symbol) if symbol.startswith("__") else symbol
    return "sleep" if name in ("clock_nanosleep", "nanosleep") else name


def _has_woken(thread: Thread) -> bool:
    """Whether a thread that slept through both looks has run since, so that its functions may be later ones. A stop
    wakes one as well."""
    if not thread.slept_on or thread.now.held_us is not None:
        return False
    try:
        status = Path(f"/proc/{thread.process}/task/{thread.thread}/status").read_text()
    except OSError:
        return True
    return sum(map(int, re.findall(r"ctxt_switches:\s*(\d+)", status))) != thread.now.switches


def _program() -> str | None:
    beside = os.path.join(os.path.dirname(sys.executable), _PY_SPY)
    return shutil.which(_PY_SPY) or shutil.which(beside)


def _dump(process: int) -> dict[int, tuple[Frame, ...]]:
    """The frames of its threads. The process is not stopped for that, so that only those of threads that sleep
    are sure to be whole; of threads that run a second attempt may succeed."""
    command = [str(_program()), "dump", "--nonblocking", "--json", "--locals", "--pid", str(process)]
    for _ in range(_ATTEMPTS):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LIMIT_S)
            return {thread["os_thread_id"]: tuple(map(_frame, thread["frames"])) for thread in json.loads(done.stdout)}
        except subprocess.CalledProcessError:
            continue
        except (OSError, subprocess.SubprocessError, ValueError, KeyError):
            break
    return {}


def _frame(seen: Mapping[str, Any]) -> Frame:
    file = seen["short_filename"] or seen["filename"]
    own = next((local["repr"] or "" for local in seen["locals"] or () if local["name"] == "self"), "")
    barrier = _BARRIER.match(own) if file == "threading.py" else None
    name = PYTHON_BARRIER if barrier else seen["name"].strip("<>")
    place = f"{os.path.basename(file)}:{seen['line']}"
    is_of_library = bool(_LIBRARIES.match(seen["filename"] or ""))
    return Frame(name, file, place, int(barrier[1], 16) if barrier else 0, 0, is_of_library)

# SPDX-License-Identifier: Apache-2.0
"""Threads of Python programs: their functions, and the threading.Barrier they wait at, where py-spy is installed."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tollbar.look.sight import PYTHON_BARRIER, Frame, Thread

_PY_SPY = "py-spy"
#: A call in which a thread of Python waits for a lock, under which barriers, conditions and queues lie.
_LOCK = r"PyThread_acquire_lock_timed|_PyMutex_LockTimed|_PySemaphore_Wait"
#: tollbar's own module, in which threads wait at its barriers.
_NATIVE = re.compile(r"_native\.(cpython|abi3)")
_OF_PROCESSES = "tollbar.process_barrier"  #: the missing one is in a process in which nobody waits
_PYTHON = re.compile(r"(lib)?python\d")
_BARRIER = re.compile(r"<(?:threading\.)?Barrier at (0x[0-9a-f]+)")
_LIMIT_S = 20


def named(threads: Sequence[Thread]) -> tuple[list[Thread], list[str]]:
    """The threads, those of Python programs with Python's frames; and what is missing for that, in sentences."""
    waiting = [thread for thread in threads if waits_for_lock(thread)]
    of_tollbar = [thread for thread in threads if any(_NATIVE.match(frame.module) for frame in thread.frames)]
    shares = any(thread.barrier and thread.barrier.kind == _OF_PROCESSES for thread in threads)
    pythons = [thread for thread in threads if shares and any(_PYTHON.match(frame.module) for frame in thread.frames)]
    processes = dict.fromkeys(thread.process for thread in [*waiting, *of_tollbar, *pythons])
    stacks: dict[int, tuple[Frame, ...]] = {}
    for process in processes if _program() else ():
        stacks |= _dump(process)
    notes = [
        f"{len(own)} threads of process {process} wait for locks of Python's; what these belong to, perhaps a "
        f"barrier, is seen where {_PY_SPY} is installed (pip install {_PY_SPY})"
        for process in processes
        if len(own := [thread for thread in waiting if thread.process == process]) > 1 and not _program()
    ]
    return [_with(thread, stacks.get(thread.thread)) for thread in threads], notes


def waits_for_lock(thread: Thread) -> bool:
    """Whether it waits for a lock of Python's, by the frames of the interpreter."""
    return thread.slept_on and thread.has(_LOCK)


def _with(thread: Thread, frames: tuple[Frame, ...] | None) -> Thread:
    return dataclasses.replace(thread, now=dataclasses.replace(thread.now, frames=frames)) if frames else thread


def _program() -> str | None:
    beside = os.path.join(os.path.dirname(sys.executable), _PY_SPY)
    return shutil.which(_PY_SPY) or shutil.which(beside)


def _dump(process: int) -> dict[int, tuple[Frame, ...]]:
    """The frames of its threads. The process is not stopped for that, so that only those of threads that sleep
    are sure to be whole."""
    command = [str(_program()), "dump", "--nonblocking", "--json", "--locals", "--pid", str(process)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LIMIT_S)
        return {thread["os_thread_id"]: tuple(map(_frame, thread["frames"])) for thread in json.loads(done.stdout)}
    except (OSError, subprocess.SubprocessError, ValueError, KeyError):
        return {}


def _frame(seen: Mapping[str, Any]) -> Frame:
    file = seen["short_filename"] or seen["filename"]
    own = next((local["repr"] or "" for local in seen["locals"] or () if local["name"] == "self"), "")
    barrier = _BARRIER.match(own) if file == "threading.py" else None
    name = PYTHON_BARRIER if barrier else seen["name"].strip("<>")
    return Frame(name, file, f"{file}:{seen['line']}", int(barrier[1], 16) if barrier else 0, 0)

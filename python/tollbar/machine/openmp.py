# SPDX-License-Identifier: Apache-2.0
"""The way of meeting that a program's threads use, and the OpenMP settings that suit the CPUs there are."""

from __future__ import annotations

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tollbar.machine import programs
from tollbar.machine.cpus import Usable

#: The OpenMP runtime that a program is linked with, also under the names that wheels give their own copies.
_RUNTIMES = {"libgomp": re.compile(r"\blibgomp[-\w]*\.so"), "libomp": re.compile(r"\b(?:libomp|libiomp5)[-\w]*\.so")}

#: A variable that each of them reads, by which a copy inside of a program is known.
_MARKS = {"libgomp": b"\0GOMP_CPU_AFFINITY\0", "libomp": b"\0KMP_AFFINITY\0"}

_LIMIT_S = 20.0
_ASKING = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
library.tollbar_openmp_refusal.restype = ctypes.c_char_p
os.write(1, library.tollbar_openmp_refusal(os.fsencode(sys.argv[2])))
"""


def of_program(word: str | Path) -> list[str]:
    """libgomp, libomp, pthread: what that program's threads meet by, as far as its file tells."""
    program = programs.read(word)
    if program is None or not program.is_elf:
        return []
    ways = [name for name, pattern in _RUNTIMES.items() if pattern.search(program.linked)]
    if program.holds(b"\0pthread_barrier_wait\0"):
        ways.append("pthread")
    return ways


def out_of_reach(word: str | Path) -> str:
    """Why no preload gets hold of that program's barriers; empty where one may."""
    if why := programs.without_effect(word):
        return why
    program = programs.read(word)
    if program is None or not program.is_elf:
        return ""
    kept = [name for name, mark in _MARKS.items() if program.holds(mark) and not _RUNTIMES[name].search(program.linked)]
    return f"{kept[0]} is linked into it statically" if kept else ""


def refusal(door: Path, runtime: Path) -> str:
    """Why the runtime of that file would keep its barriers with the preload; empty where it would not. A process of
    its own asks: a runtime that is loaded may end it."""
    words = [sys.executable, "-I", "-S", "-c", _ASKING, str(door), str(runtime)]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            answer = process.communicate(timeout=_LIMIT_S)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            return f"it does not answer in {_LIMIT_S:.0f} s"
    if process.returncode == 0:
        return answer
    for left in Path("/dev/shm").glob(f"__KMP_REGISTERED_LIB_{process.pid}_*"):
        with contextlib.suppress(OSError):
            left.unlink()
    how = signal.Signals(-process.returncode).name if process.returncode < 0 else f"exit code {process.returncode}"
    return f"loading it ended in {how}"


def settings(environment: Mapping[str, str], usable: Usable) -> dict[str, str]:
    """Variables to set so that threads which wait for the start and the end of regions keep no CPU from those
    that compute: these waits stay the runtime's. Nothing that the user has set is changed."""
    value = environment.get("OMP_NUM_THREADS", "").partition(",")[0]
    threads = int(value) if value.isdecimal() else usable.affinity
    chosen = {}
    if usable.cpus < usable.affinity and not value and "OMP_THREAD_LIMIT" not in environment:
        chosen["OMP_NUM_THREADS"] = str(usable.cpus)  # runtimes look at the mask, not at the quota
        threads = usable.cpus
    has_policy = any(name in environment for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"))
    if not has_policy and (threads > usable.cpus or usable.quota):
        chosen |= {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
    return chosen

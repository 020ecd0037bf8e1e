# SPDX-License-Identifier: Apache-2.0
"""The way of meeting that a program's threads use, and the OpenMP settings that suit the CPUs there are."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tollbar.machine.cpus import Usable

#: The OpenMP runtime that a program is linked with, also under the names that wheels give their own copies.
_RUNTIMES = {"libgomp": re.compile(r"\blibgomp[-\w]*\.so"), "libomp": re.compile(r"\b(?:libomp|libiomp5)[-\w]*\.so")}

#: A variable that each of them reads, by which a copy inside of a program is known.
_MARKS = {"libgomp": b"\0GOMP_CPU_AFFINITY\0", "libomp": b"\0KMP_AFFINITY\0"}


def of_program(program: str | Path) -> list[str]:
    """libgomp, libomp, pthread: what that program's threads meet by, as far as its file tells."""
    path = shutil.which(program)
    if path is None or not is_elf(Path(path)):
        return []
    linked = _linked(path)
    ways = [name for name, pattern in _RUNTIMES.items() if pattern.search(linked)]
    if b"\0pthread_barrier_wait\0" in Path(path).read_bytes():
        ways.append("pthread")
    return ways


def out_of_reach(program: str | Path) -> str:
    """Why no preload gets hold of that program's barriers; empty where one may."""
    path = shutil.which(program)
    if path is None or not is_elf(Path(path)):
        return ""
    linked, content = _linked(path), Path(path).read_bytes()
    if not linked or "statically linked" in linked:
        return "it is linked statically"
    kept = [name for name, mark in _MARKS.items() if mark in content and not _RUNTIMES[name].search(linked)]
    return f"{kept[0]} is linked into it statically" if kept else ""


def _linked(path: str) -> str:
    return subprocess.run(["ldd", path], capture_output=True, text=True, errors="replace").stdout


def refusal(door: Path, runtime: Path) -> str:
    """Why the runtime of that file would keep its barriers with the preload; empty where it would not."""
    library = ctypes.CDLL(str(door))
    library.tollbar_openmp_refusal.restype = ctypes.c_char_p
    answer: bytes = library.tollbar_openmp_refusal(os.fsencode(runtime))
    return answer.decode()


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


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

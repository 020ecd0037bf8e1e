# SPDX-License-Identifier: Apache-2.0
"""The places of this machine's cores, as the kernel has them.

A cluster is what shares the last-level cache; a core counts once, whatever its threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tollbar.backports import zip_equal

#: (cluster, socket) of each core, both numbered from 0.
Cores = list[tuple[int, int]]
#: The same with the number of the core's first CPU before it.
Cpus = list[tuple[int, tuple[int, int]]]


def from_kernel(root: str, allowed: Iterable[int]) -> Cpus:
    """The cores of CPUs that are allowed, neighbours side by side, from root/sys."""
    folder = Path(root) / "sys/devices/system/cpu"
    seen: dict[tuple[int, int, int], int] = {}
    for cpu in sorted(allowed):
        own = folder / f"cpu{cpu}"
        levels = {_number(index / "level"): index for index in own.glob("cache/index*")}
        cache = _number(levels[max(levels)] / "shared_cpu_list", cpu) if levels else 0
        package = _number(own / "topology/physical_package_id")
        core = _number(own / "topology/thread_siblings_list", cpu)
        seen.setdefault((package, cache, core), cpu)
    ordered = sorted(seen)
    places = _numbered([((package, cache), package) for package, cache, _ in ordered])
    return [(seen[key], place) for key, place in zip_equal(ordered, places)]


def _number(file: Path, otherwise: int = 0) -> int:
    """The first number in it."""
    try:
        number = re.match(r"\d+", file.read_text())
    except OSError:
        return otherwise
    return int(number[0]) if number else otherwise


def _numbered(cores: Iterable[tuple[object, object]]) -> Cores:
    """The same cores, clusters and sockets numbered in the order of their first core."""
    clusters: dict[object, int] = {}
    sockets: dict[object, int] = {}
    return [
        (clusters.setdefault(cluster, len(clusters)), sockets.setdefault(socket, len(sockets)))
        for cluster, socket in cores
    ]

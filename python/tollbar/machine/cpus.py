# SPDX-License-Identifier: Apache-2.0
"""How many CPUs this process may use, and why: affinity mask, and cgroup quotas (v1 and v2)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Quota:
    """CPU time a second that a control group may take, in CPUs, and the file that says so."""

    cpus: float
    file: Path


@dataclass(frozen=True)
class Usable:
    online: int
    affinity: int
    quota: Quota | None

    @property
    def cpus(self) -> int:
        """What threads can count on; a part of a CPU does not count, as in the library (quota_cpus())."""
        return max(1, min(self.affinity, math.floor(self.quota.cpus) if self.quota else self.affinity))

    @property
    def why(self) -> str:
        reasons = [f"{self.online} online", f"{self.affinity} in the affinity mask"]
        if self.quota:
            reasons.append(f"a quota of {self.quota.cpus:g} in {self.quota.file}")
        else:
            reasons.append("no cgroup quota")
        return ", ".join(reasons)


def usable() -> Usable:
    return Usable(os.cpu_count() or 1, len(os.sched_getaffinity(0)), tightest_quota())


def tightest_quota(root: Path = Path("/")) -> Quota | None:
    """The smallest quota of this process's control groups and all groups above them."""
    quotas = [quota for folder in _groups(root) if (quota := _quota_of(folder))]
    return min(quotas, key=lambda quota: quota.cpus, default=None)


def _groups(root: Path) -> Iterator[Path]:
    """The folders of this process's control groups that can limit CPU time, each with its ancestors."""
    ours = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers or "cpu" in controllers.split(","):
            ours["cpu" if controllers else "v2"] = path
    for kind, mounted, point in _mounts(root):
        path = ours.get(kind, "")
        # Inside a container the mount may show only a part of the hierarchy, without our own path.
        below = path.removeprefix(mounted.rstrip("/")) if path.startswith(mounted) else ""
        folder = point / below.lstrip("/")
        yield folder
        yield from (up for up in folder.parents if up == point or point in up.parents)


def _mounts(root: Path) -> Iterator[tuple[str, str, Path]]:
    """("v2" or "cpu", the part of the hierarchy that is mounted, where) for each mount that matters."""
    for line in _lines(root / "proc/self/mountinfo"):
        front, _, back = line.partition(" - ")
        mounted, point = front.split()[3:5]
        kind, _, options = [*back.split(), "", "", ""][:3]
        if kind == "cgroup2":
            yield "v2", mounted, root / point.lstrip("/")
        elif kind == "cgroup" and "cpu" in options.split(","):
            yield "cpu", mounted, root / point.lstrip("/")


def _quota_of(folder: Path) -> Quota | None:
    v2 = " ".join(_lines(folder / "cpu.max")).split()
    v1 = _lines(folder / "cpu.cfs_quota_us") + _lines(folder / "cpu.cfs_period_us")
    for name, words in (("cpu.max", v2), ("cpu.cfs_quota_us", v1)):
        # No limit is written "max" in v2 and -1 in v1.
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            return Quota(int(words[0]) / int(words[1]), folder / name)
    return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # no such controller, or nothing mounted here
        return []

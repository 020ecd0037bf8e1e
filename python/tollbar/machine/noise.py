# SPDX-License-Identifier: Apache-2.0
"""Reasons why a machine is not quiet: other programs, clocks that change, a hypervisor that takes time.

seen = noise.look()
...
print(*noise.since(seen))
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

_STAT = Path("/proc/stat")
_CPUS = Path("/sys/devices/system/cpu")
#: The fields of a line of /proc/stat: all ticks, of which idle ones and those that a hypervisor had.
_FIELDS, _IDLE, _STEAL = 8, 3, 7
#: How long idle time is watched: the load of the last minute has our own programs in it.
_WATCHED_S = 0.3

#: The shares of all time that others, and a hypervisor, may have before it is told.
_BUSY, _STOLEN = 0.15, 0.02
#: The load beside our own programs that a run may have whose numbers fill a page.
_LOAD = 0.5


class Look(NamedTuple):
    """How the machine was at one moment."""

    busy: float  #: the share of the processors' time that others have
    ticks: int
    stolen: int
    scaling: str  #: the governors that change the frequency of processors; empty where none does


def look(stat: Path = _STAT, cpus: Path = _CPUS) -> Look:
    """How it is now. A number that the kernel does not tell counts as quiet."""
    first = _ticks(stat)
    time.sleep(_WATCHED_S if first else 0)
    ticks = _ticks(stat)
    passed = max(1, sum(ticks) - sum(first))
    idle = ticks[_IDLE] - first[_IDLE] if first else passed
    governors = {_text(path) for path in cpus.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    scaling = ", ".join(sorted(governors - {"performance", ""}))
    stolen = (*ticks, *[0] * _FIELDS)[_STEAL]
    return Look(max(0.0, 1 - idle / passed), sum(ticks), stolen, scaling)


def before(seen: Look) -> Iterator[str]:
    """A line for each reason to doubt what is measured from now on."""
    if seen.busy > _BUSY:
        yield f"other programs keep {seen.busy:.0%} of the processors busy".replace("%", " %")
    if seen.scaling:
        yield f"the processors' frequency changes (governor {seen.scaling})"


def after(seen: Look, now: Look) -> Iterator[str]:
    """A line for each reason to doubt what was measured since `seen`."""
    share = _stolen(seen, now)
    if share > _STOLEN:
        yield f"the hypervisor took {share:.0%} of the processors' time (steal)".replace("%", " %")


def since(seen: Look) -> list[str]:
    """All reasons to doubt what was measured from `seen` to now."""
    return [*before(seen), *after(seen, look())]


def _stolen(seen: Look, now: Look) -> float:
    return (now.stolen - seen.stolen) / max(1, now.ticks - seen.ticks)


def marks(seen: Look, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that a run is stored with, which began at `seen` with these facts and has just ended.

    noise: all reasons to doubt it; load_beside_after: the processors that others keep busy now, as the load of the last
    minute has our own programs in it; stolen: the share of time that a hypervisor took; loud: see loud().
    """
    now = look()
    known = {
        "noise": [*before(seen), *after(seen, now)],
        "load_beside_after": round(now.busy * (os.cpu_count() or 1), 3),
        "stolen": round(_stolen(seen, now), 4),
    }
    return known | {"loud": loud({**facts, **known})}


def loud(facts: Mapping[str, Any]) -> list[str]:
    """The reasons why a run that is stored with these facts fills no page; a fact that is not stored is none."""
    load, ended, stolen = (facts.get("load") or [0.0])[0], facts.get("load_beside_after"), facts.get("stolen")
    reasons = [f"load {load:.2g} when it began"] if load > _LOAD else []
    reasons += [f"load {ended:.2g} when it ended"] if ended is not None and ended > _LOAD else []
    stole = f"{stolen or 0.0:.0%} of its time stolen".replace("%", " %")
    return reasons + ([stole] if stolen is not None and stolen > _STOLEN else [])


def _ticks(stat: Path) -> list[int]:
    words = _text(stat).partition("\n")[0].split()
    return [int(word) for word in words[1 : 1 + _FIELDS]] if words[:1] == ["cpu"] else []


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""

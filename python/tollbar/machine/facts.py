# SPDX-License-Identifier: Apache-2.0
"""The facts on which the numbers of a run depend: processors, kernel, limits, load and versions."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def _first_line(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()[0].strip()
    except (OSError, IndexError):
        return None


CPUINFO = Path("/proc/cpuinfo")


def _first_processor(cpuinfo: Path) -> dict[str, str]:
    """The kernel's words about it, by their names."""
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def processor_model(cpuinfo: Path = CPUINFO) -> str:
    return _first_processor(cpuinfo).get("model name") or platform.machine()


def processor_revision(cpuinfo: Path = CPUINFO) -> str | None:
    """Its family, model, stepping and microcode: what one name is sold under differs in them."""
    known = _first_processor(cpuinfo)
    words = {"family": "cpu family", "model": "model", "stepping": "stepping", "microcode": "microcode"}
    return ", ".join(f"{word} {known[name]}" for word, name in words.items() if known.get(name)) or None


def _memory_mb() -> int | None:
    line = _first_line("/proc/meminfo")
    return int(line.split()[1]) // 1024 if line else None


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _virtual(cpuinfo: Path = CPUINFO) -> bool:
    return "hypervisor" in _first_processor(cpuinfo).get("flags", "").split()


def hypervisor(cpuinfo: Path = CPUINFO, system: Path = Path("/sys")) -> str | None:
    """The name of what the machine runs in, as firmware or kernel give it; None where neither does."""
    if not _virtual(cpuinfo):
        return None
    firmware = (_first_line(f"{system}/class/dmi/id/{name}") for name in ("sys_vendor", "product_name"))
    return " ".join(filter(None, firmware)) or _first_line(f"{system}/hypervisor/type")


def facts() -> dict[str, Any]:
    """The machine as it is now. A fact that cannot be known is None."""
    from tollbar import __version__
    from tollbar.machine import cpus

    return {
        "model": processor_model(),
        "revision": processor_revision(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
        "usable": sorted(os.sched_getaffinity(0)),
        "quota": cpus.usable().quota,
        "virtual": _virtual(),
        "hypervisor": hypervisor(),
        "smt": _first_line("/sys/devices/system/cpu/smt/active"),
        "governor": _first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "memory_mb": _memory_mb(),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _system(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "tollbar": __version__,
        "load": list(os.getloadavg()),
    }


def _system() -> str | None:
    names = [line.partition("=")[2].strip('"') for line in _lines("/etc/os-release") if line.startswith("PRETTY_NAME=")]
    return names[0] if names else None


def short_id(known: Mapping[str, Any]) -> str:
    """Eight letters that stay the same for one kind of machine, to tell its choices from another's."""
    text = "|".join(str(known.get(key)) for key in ("model", "architecture", "cpus"))
    return hashlib.sha256(text.encode()).hexdigest()[:8]

# SPDX-License-Identifier: Apache-2.0
"""The capabilities of this process: its rights to ask things of the kernel."""

from __future__ import annotations

from pathlib import Path

#: Bits of CapEff in /proc/self/status.
_BITS = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21, "CAP_PERFMON": 38, "CAP_BPF": 39}

#: The needs of network namespaces and devices in them.
NAMESPACES = ("CAP_NET_ADMIN", "CAP_SYS_ADMIN")


def lacking(*names: str) -> list[str]:
    """The ones of these capabilities that this process lacks."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    held = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return [name for name in names if not held >> _BITS[name] & 1]

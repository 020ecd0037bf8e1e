# SPDX-License-Identifier: Apache-2.0
"""Numbers of system calls on this processor; the hosts of a job have the same."""

from __future__ import annotations

import platform

_NUMBERS = {
    "x86_64": {
        "read": 0, "select": 23, "pause": 34, "nanosleep": 35, "wait4": 61, "rt_sigsuspend": 130, "futex": 202,
        "clock_nanosleep": 230, "waitid": 247, "pselect6": 270,
    },
    "aarch64": {
        "read": 63, "pselect6": 72, "waitid": 95, "futex": 98, "nanosleep": 101, "clock_nanosleep": 115,
        "rt_sigsuspend": 133, "wait4": 260,
    },
}  # fmt: skip


def numbers(*names: str, machine: str = "") -> tuple[int, ...]:
    """The numbers of the calls of those names that the processor has."""
    known = _NUMBERS.get(machine or platform.machine(), {})
    return tuple(known[name] for name in names if name in known)


READ = numbers("read")
SLEEPS = numbers("nanosleep", "clock_nanosleep")  #: wait for nobody
PAUSES = (*SLEEPS, *numbers("pause", "rt_sigsuspend"))
SELECTS = numbers("select", "pselect6")
CHILDREN = numbers("wait4", "waitid")  #: return when a child has ended
FUTEX = numbers("futex")

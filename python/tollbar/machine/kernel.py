# SPDX-License-Identifier: Apache-2.0
"""Which of the kernel's calls that barriers rest on can be made here: futex, membarrier, namespaces."""

from __future__ import annotations

import ctypes
import os
import platform

#: System call numbers by machine; riscv64 and loongarch64 share the generic table with aarch64.
_NUMBERS = {
    "x86_64": {"futex": 202, "membarrier": 324},
    "aarch64": {"futex": 98, "membarrier": 283},
    "riscv64": {"futex": 98, "membarrier": 283},
    "loongarch64": {"futex": 98, "membarrier": 283},
    "ppc64le": {"futex": 221, "membarrier": 365},
    "s390x": {"futex": 238, "membarrier": 356},
}

_FUTEX_WAKE = 1
_MEMBARRIER_QUERY = 0
_GLOBAL_EXPEDITED = 1 << 1
_PRIVATE_EXPEDITED = 1 << 3

_CAP_NET_ADMIN = 12
_CAP_SYS_ADMIN = 21


def _call(name: str, *arguments: object) -> int:
    """The call's result. Raises OSError when the kernel or a sandbox refuses it."""
    numbers = _NUMBERS.get(platform.machine())
    if numbers is None:
        raise OSError(0, f"the number of {name} on {platform.machine()} is not known")
    result = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(numbers[name]), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def futex_problem() -> str | None:
    """Why no thread could sleep on a word; None when it could."""
    word = ctypes.c_uint32(0)
    try:
        _call("futex", ctypes.byref(word), _FUTEX_WAKE, 1, None, None, 0)
    except OSError as error:
        return error.strerror
    return None


def membarrier_problem() -> str | None:
    """Why a waker cannot be spared its fence by membarrier; None when it can."""
    try:
        offered = _call("membarrier", _MEMBARRIER_QUERY, 0, 0)
    except OSError as error:
        return error.strerror
    wanted = {"private": _PRIVATE_EXPEDITED, "global": _GLOBAL_EXPEDITED}
    lacking = [name for name, bit in wanted.items() if not offered & bit]
    return f"no {' and no '.join(lacking)} expedited barrier" if lacking else None


def may_make_namespaces() -> bool:
    """Whether this process may make network namespaces and devices: CAP_NET_ADMIN and CAP_SYS_ADMIN."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        held = next((int(line.split()[1], 16) for line in status if line.startswith("CapEff:")), 0)
    return all(held >> capability & 1 for capability in (_CAP_NET_ADMIN, _CAP_SYS_ADMIN))

# SPDX-License-Identifier: Apache-2.0
"""Numbers of system calls are those of the kernel's headers, for each processor that is looked at."""

from __future__ import annotations

import platform
import re
import subprocess

import pytest
from tollbar.look import calls

COMPILERS = {"x86_64": "cc", "aarch64": "aarch64-linux-gnu-gcc"}


def of_the_kernel(compiler: str) -> dict[str, int]:
    headers = subprocess.run(
        [compiler, "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null"], capture_output=True, text=True
    )
    return {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)$", headers.stdout, re.M)}


@pytest.mark.parametrize("machine", COMPILERS)
def test_each_number_is_the_kernels(machine):
    try:
        known = of_the_kernel(COMPILERS[machine])
    except FileNotFoundError:
        pytest.skip(f"{COMPILERS[machine]} is not installed")
    if COMPILERS[machine] == "cc" and platform.machine() != machine:
        pytest.skip("the compiler is another processor's")
    names = tuple(calls._NUMBERS["x86_64"])
    there = [name for name in names if name in known]
    assert len(there) >= 8
    assert calls.numbers(*names, machine=machine) == tuple(known[name] for name in there)


def test_of_another_processor_none_is_known():
    assert calls.numbers("futex", machine="riscv64") == ()

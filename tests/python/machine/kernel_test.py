# SPDX-License-Identifier: Apache-2.0
"""The kernel's calls are asked for, and a refusal is told in the kernel's words."""

import errno
import os
import subprocess
import sys

import pytest
from tollbar.machine import kernel


def test_futex_works_where_the_tests_run():
    assert kernel.futex_problem() is None


def test_a_refused_call_gives_its_reason(monkeypatch):
    def refused(name, *_):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(kernel, "_call", refused)
    assert kernel.futex_problem() == "Function not implemented"
    assert kernel.membarrier_problem() == "Function not implemented"


@pytest.mark.parametrize(
    ("offered", "problem"),
    [
        (0b1111111, None),
        (0b1111110 & ~8, "no private expedited barrier"),
        (1, "no private and no global expedited barrier"),
    ],
)
def test_membarrier_must_offer_both_expedited_barriers(monkeypatch, offered, problem):
    monkeypatch.setattr(kernel, "_call", lambda *_: offered)
    assert kernel.membarrier_problem() == problem


def test_an_unknown_machine_is_a_problem_and_not_an_exception(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "pdp11")
    assert kernel.futex_problem() == "the number of futex on pdp11 is not known"


def test_a_process_without_capabilities_may_not_make_namespaces():
    look = "from tollbar.machine import kernel; print(kernel.may_make_namespaces())"
    stripped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = subprocess.run([*stripped, sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

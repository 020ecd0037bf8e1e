# SPDX-License-Identifier: Apache-2.0
"""What the kernel grants this process is told as it is."""

import os
import subprocess
import sys

import pytest
from tollbar import _native
from tollbar.machine import kernel


def test_futex_works_where_the_tests_run():
    assert _native.futex_problem() == ""
    assert _native.membarrier_problem() in ("", "no expedited barrier", "Function not implemented")


def test_a_process_without_capabilities_lacks_those_of_namespaces():
    look = "from tollbar.machine import kernel; print(*kernel.lacking(*kernel.NAMESPACES))"
    stripped = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = subprocess.run([*stripped, sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "CAP_NET_ADMIN CAP_SYS_ADMIN\n"


@pytest.mark.parametrize(("held", "lacking"), [("0000000000200000", ["CAP_BPF"]), ("000001ffffffffff", [])])
def test_a_capability_is_a_bit_of_what_the_kernel_lists(monkeypatch, held, lacking):
    monkeypatch.setattr("pathlib.Path.read_text", lambda *_, **__: f"Name:\tx\nCapEff:\t{held}\n")
    assert kernel.lacking("CAP_SYS_ADMIN", "CAP_BPF") == lacking

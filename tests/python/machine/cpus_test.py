# SPDX-License-Identifier: Apache-2.0
"""Usable CPUs: affinity, and what the library says of cgroup quotas."""

import pytest
from tollbar import _native
from tollbar.machine import cpus


@pytest.mark.parametrize(("affinity", "quota", "usable"), [(8, None, 8), (8, 2.5, 2), (2, 6.0, 2), (4, 0.2, 1)])
def test_the_smaller_of_affinity_and_quota_can_be_used(affinity, quota, usable):
    found = cpus.Usable(16, affinity, quota)
    assert found.cpus == usable
    assert f"{affinity} in the affinity mask" in found.why


def test_the_quota_is_the_librarys(tmp_path):
    assert _native.cpu_quota(str(tmp_path)) is None
    for name, text in {"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "150000 100000"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert _native.cpu_quota(str(tmp_path)) == 1.5

# SPDX-License-Identifier: Apache-2.0
"""Usable CPUs: affinity, and cgroup quotas of both versions."""

import pytest
from tollbar.machine import cpus


@pytest.fixture
def machine(tmp_path):
    """machine(cgroup, mountinfo, {file: text}) -> a root folder that looks like such a machine."""

    def make(cgroup, mountinfo, files):
        files = files | {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo}
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text + "\n")
        return tmp_path

    return make


V2 = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
V1 = "31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct"


def test_the_tightest_quota_of_all_ancestors_counts_in_v2(machine):
    root = machine(
        "0::/a/b",
        V2,
        {
            "sys/fs/cgroup/a/b/cpu.max": "max 100000",
            "sys/fs/cgroup/a/cpu.max": "150000 100000",
            "sys/fs/cgroup/cpu.stat": "",
        },
    )
    assert cpus.tightest_quota(root) == cpus.Quota(1.5, root / "sys/fs/cgroup/a/cpu.max")


def test_a_quota_of_v1_counts(machine):
    folder = "sys/fs/cgroup/cpu,cpuacct/job"
    root = machine(
        "4:memory:/x\n2:cpu,cpuacct:/job",
        V1,
        {f"{folder}/cpu.cfs_quota_us": "50000", f"{folder}/cpu.cfs_period_us": "25000"},
    )
    assert cpus.tightest_quota(root) == cpus.Quota(2.0, root / folder / "cpu.cfs_quota_us")


def test_no_limit_is_no_quota(machine):
    root = machine("0::/", V2, {"sys/fs/cgroup/cpu.max": "max 100000"})
    assert cpus.tightest_quota(root) is None
    folder = "sys/fs/cgroup/cpu,cpuacct"
    root = machine("2:cpu,cpuacct:/", V1, {f"{folder}/cpu.cfs_quota_us": "-1", f"{folder}/cpu.cfs_period_us": "100000"})
    assert cpus.tightest_quota(root) is None


def test_a_container_that_sees_only_its_own_part_is_limited_by_it(machine):
    mount = "30 25 0:26 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw"
    root = machine("0::/docker/c1", mount, {"sys/fs/cgroup/cpu.max": "300000 100000"})
    assert cpus.tightest_quota(root).cpus == 3


def test_a_machine_without_cgroups_has_no_quota(tmp_path):
    assert cpus.tightest_quota(tmp_path) is None


@pytest.mark.parametrize(("affinity", "quota", "usable"), [(8, None, 8), (8, 2.5, 2), (2, 6.0, 2), (4, 0.2, 1)])
def test_the_smaller_of_affinity_and_quota_can_be_used(tmp_path, affinity, quota, usable):
    found = cpus.Usable(16, affinity, cpus.Quota(quota, tmp_path) if quota else None)
    assert found.cpus == usable
    assert f"{affinity} in the affinity mask" in found.why

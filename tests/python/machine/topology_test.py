# SPDX-License-Identifier: Apache-2.0
"""The places of cores, as the kernel has them."""

from tollbar.machine import topology


def kernel(root, cpus):
    """Writes what the kernel says of {cpu: (package, CPUs of the cache, CPUs of the core)}."""
    for cpu, (package, cache, core) in cpus.items():
        own = root / f"sys/devices/system/cpu/cpu{cpu}"
        (own / "topology").mkdir(parents=True)
        (own / "topology/physical_package_id").write_text(f"{package}\n")
        (own / "topology/thread_siblings_list").write_text(f"{core}\n")
        for index, (level, shared) in enumerate(((1, core), (3, cache))):
            (own / f"cache/index{index}").mkdir(parents=True)
            (own / f"cache/index{index}/level").write_text(f"{level}\n")
            (own / f"cache/index{index}/shared_cpu_list").write_text(f"{shared}\n")


def test_the_kernel_says_which_cores_are_neighbours(tmp_path):
    kernel(tmp_path, {cpu: (cpu % 2, f"{cpu % 2},{cpu % 2 + 2}", f"{cpu}") for cpu in range(4)})
    assert topology.from_kernel(str(tmp_path), range(4)) == [
        (0, (0, 0)), (2, (0, 0)), (1, (1, 1)), (3, (1, 1)),
    ]  # fmt: skip
    assert topology.from_kernel(str(tmp_path), [1, 2]) == [(2, (0, 0)), (1, (1, 1))]


def test_the_second_thread_of_a_core_does_not_count(tmp_path):
    kernel(tmp_path, {cpu: (0, "0-3", f"{cpu % 2},{cpu % 2 + 2}") for cpu in range(4)})
    assert topology.from_kernel(str(tmp_path), range(4)) == [(0, (0, 0)), (1, (0, 0))]


def test_where_the_kernel_says_nothing_all_cores_are_together(tmp_path):
    assert topology.from_kernel(str(tmp_path), [0, 1]) == [(0, (0, 0)), (1, (0, 0))]

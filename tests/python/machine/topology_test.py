# SPDX-License-Identifier: Apache-2.0
"""Where cores lie, from hwloc's descriptions."""

import shutil
import subprocess

import pytest
from tollbar.machine import topology

XML = """<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">
<object type="Machine" os_index="0" cpuset="0x0000003f" allowed_cpuset="{allowed}">
 <object type="Package" os_index="0" cpuset="0x0000003f">
  <object type="L3Cache" cpuset="0x0000000f"><object type="L2Cache" cpuset="0x00000003">
    <object type="Core" os_index="0"><object type="PU" os_index="0"/><object type="PU" os_index="1"/></object>
   </object><object type="L2Cache" cpuset="0x0000000c">
    <object type="Core" os_index="1"><object type="PU" os_index="2"/><object type="PU" os_index="3"/></object>
   </object></object>
  <object type="L3Cache" cpuset="0x00000030">
    <object type="Core" os_index="2"><object type="PU" os_index="4"/><object type="PU" os_index="5"/></object>
  </object></object></object></topology>"""


@pytest.mark.parametrize(
    ("levels", "cores", "clusters", "sockets"),
    [
        ("pack:1 core:1", 1, 1, 1),
        ("pack:2 l3:8 core:8 pu:2", 128, 16, 2),
        ("Package:2 L3Cache:4 L2:2 Core:1 PU:1", 16, 8, 2),
        ("pack:2 numa:1 core:16", 32, 2, 2),
        ("pack:1 l2:3 pu:2", 6, 3, 1),
        ("numa:4(memory=1GB) l3:2 core:3", 24, 8, 1),
    ],
)
def test_levels_say_where_the_cores_lie(levels, cores, clusters, sockets):
    found = topology.from_synthetic(levels)
    assert len(found) == cores
    assert len({cluster for cluster, _ in found}) == clusters
    assert len({socket for _, socket in found}) == sockets


def test_cores_of_a_cluster_are_neighbours():
    assert topology.from_synthetic("pack:2 l3:1 core:2") == [(0, 0), (0, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize(
    "levels", ["", "pack", "pack:2", "crate:2 core:2", "pack:2 core:x", "pack:2000 core:2"]
)
def test_other_levels_are_refused(levels):
    with pytest.raises(topology.Unreadable):
        topology.from_synthetic(levels)


def test_threads_of_a_core_count_once():
    assert topology.from_xml(XML.format(allowed="0x0000003f")) == [(0, 0), (0, 0), (1, 0)]


def test_processors_that_are_not_allowed_do_not_count():
    assert topology.from_xml(XML.format(allowed="0x0000000d")) == [(0, 0), (0, 0)]
    assert topology.from_xml(XML.format(allowed="0x00000030")) == [(0, 0)]
    with pytest.raises(topology.Unreadable, match="no processor"):
        topology.from_xml(XML.format(allowed="0x00000000"))


@pytest.mark.parametrize("text", ["", "<topology/>", "<html><object/></html>", "{"])
def test_other_files_are_refused(text):
    with pytest.raises(topology.Unreadable):
        topology.from_xml(text)


@pytest.mark.skipif(not shutil.which("lstopo-no-graphics"), reason="hwloc's lstopo is not installed")
@pytest.mark.parametrize(
    "levels", ["pack:2 l3:2 core:3 pu:2", "pack:1 l3:16 core:8 pu:1", "pack:2 core:4 pu:1"]
)
def test_xml_of_lstopo_says_the_same_as_the_levels(levels, tmp_path):
    path = tmp_path / "machine.xml"
    subprocess.run(["lstopo-no-graphics", "--input", levels, "--of", "xml", str(path)], check=True)
    assert topology.cores(str(path)) == topology.from_synthetic(levels)


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

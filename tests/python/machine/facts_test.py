# SPDX-License-Identifier: Apache-2.0
"""The facts on which the numbers of a run depend."""

import platform

from tollbar.machine import facts

XEON = """processor\t: 0
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R) Xeon(R) Processor
stepping\t: 2
microcode\t: 0x1

processor\t: 1
model name\t: Another
"""


def test_a_processor_has_a_name_and_what_tells_it_from_others_of_that_name(tmp_path):
    (tmp_path / "cpuinfo").write_text(XEON)
    assert facts.processor_model(tmp_path / "cpuinfo") == "Intel(R) Xeon(R) Processor"
    assert facts.processor_revision(tmp_path / "cpuinfo") == "family 6, model 207, stepping 2, microcode 0x1"


def test_a_kernel_that_says_less_leaves_it_out(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmicrocode\t: 0x1\n")
    assert facts.processor_revision(tmp_path / "cpuinfo") == "microcode 0x1"
    assert facts.processor_model(tmp_path / "cpuinfo") == platform.machine()
    assert facts.processor_revision(tmp_path / "nothing") is None


def test_a_virtual_machine_has_the_name_of_its_hypervisor_where_that_is_told(tmp_path):
    cpuinfo, system = tmp_path / "cpuinfo", tmp_path / "sys"
    (system / "hypervisor").mkdir(parents=True)
    (system / "hypervisor" / "type").write_text("xen\n")
    cpuinfo.write_text(XEON)
    assert facts.hypervisor(cpuinfo, system) is None  # no flag says that there is one
    cpuinfo.write_text("flags\t: fpu hypervisor\n")
    assert facts.hypervisor(cpuinfo, system) == "xen"
    (system / "class/dmi/id").mkdir(parents=True)
    (system / "class/dmi/id/sys_vendor").write_text("Amazon EC2\n")
    assert facts.hypervisor(cpuinfo, system) == "Amazon EC2"
    assert facts.hypervisor(cpuinfo, tmp_path / "nothing") is None

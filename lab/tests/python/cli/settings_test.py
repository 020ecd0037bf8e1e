# SPDX-License-Identifier: Apache-2.0
"""Settings inside the value of an option: each is told by the help, and changes what is simulated."""

import pytest
from tollbar_lab.cli import crowds, simulate_nic
from tollbar_lab.cli.simulate_scheduler import KERNELS

SCHEDULER = ("simulate", "scheduler", "tree", "--waiting", "smart", "--ranks", 9, "--compute", "900~0.5", "--cpus", 2)
TWO = (*SCHEDULER[:5], "--policy", "dynamic", "--cpus", 4, "--application", "ranks=8,compute=10000")
VALUES = {"order": "shuffled", "quantum": 3000}
#: What an application has otherwise, besides eight threads.
OF_APPLICATION = {
    "ranks": 9, "compute": 70, "barrier": "mcs", "waiting": "spin", "placement": "block", "episodes": 3,
    "arrival": 25000, "cpus": 3,
}  # fmt: skip


def printed(tollbar, *words):
    said = tollbar(*words, "--format", "csv")
    assert said.code == 0, said.err
    return said.out


@pytest.mark.parametrize(("kernel", "key"), [(kernel, key) for kernel, keys in KERNELS.items() for key in keys])
def test_a_setting_of_a_kernel_changes_what_is_simulated(tollbar, kernel, key):
    words = SCHEDULER
    if key == "move":
        words = (*TWO, "--application", "ranks=8,arrival=25000,compute=10000")
    changed = printed(tollbar, *words, "--kernel", f"{kernel},{key}={VALUES.get(key, 7)}")
    assert changed != printed(tollbar, *words, "--kernel", kernel)
    assert f"{key}=" in tollbar("simulate", "scheduler", "--help").out


@pytest.mark.parametrize("key", crowds._KEYS)
def test_a_setting_of_an_application_changes_what_is_simulated(tollbar, key):
    words = (*SCHEDULER[:5], "--cpus", 4)
    usual = {"ranks": 8}
    texts = [
        ",".join(f"{name}={value}" for name, value in each.items())
        for each in (usual, usual | {key: OF_APPLICATION[key]})
    ]
    outputs = [printed(tollbar, *words, "--application", "ranks=8", "--application", text) for text in texts]
    assert outputs[0] != outputs[1]
    help_of = tollbar("simulate", "scheduler", "--help").out
    assert key in help_of.partition("application:")[2].partition("kernels")[0]


@pytest.mark.parametrize("part", simulate_nic._PARTS)
def test_a_part_of_a_card_changes_what_is_simulated(tollbar, part):
    whole = dict.fromkeys(simulate_nic._PARTS, 3)
    texts = [",".join(f"{name}={us}" for name, us in each.items()) for each in (whole, whole | {part: 6})]
    outputs = [printed(tollbar, "simulate", "nic", "central", "--card", text) for text in texts]
    assert outputs[0] != outputs[1]
    assert part in tollbar("simulate", "nic", "--help").out.partition("--card")[2].partition("--compute")[0]

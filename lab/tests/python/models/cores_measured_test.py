# SPDX-License-Identifier: Apache-2.0
"""Results of `tollbar bench cores`: the machine that they came from."""

import pytest
import tollbar_lab
from tollbar_lab.models import cores_measured as campaign

PLACES = [(2 * core, (core // 4, core // 8)) for core in range(16)]  # by twos, as if each had a second thread


def measured_on(machine):
    """Measures a machine that is simulated, by the numbers of its CPUs."""

    def ask(kind, cpus):
        at = [cpu // 2 for cpu in cpus]
        if kind == "pause":
            return machine.numbers["pause_ns"]
        if kind == "pair":
            return tollbar_lab.cores_one_way_ns(machine, *at)
        probe = tollbar_lab.cores_contended_add_ns if kind == "add" else tollbar_lab.cores_polled_add_ns
        return probe(machine, len(at))

    return ask


def test_a_machine_is_found_again_from_what_was_measured_there():
    there = tollbar_lab.cores_machine("epyc").changed(
        cores=[place for _, place in PLACES], numbers={"cluster_ns": 31.0, "busy": 0.8, "far_ns": 300.0}
    )
    found = campaign.measure(measured_on(there), PLACES)
    for key in ("cluster_ns", "socket_ns", "second_socket_ns", "far_ns"):
        assert found.machine.numbers[key] == pytest.approx(there.numbers[key], rel=0.25), key
    assert found.machine.numbers["busy"] == pytest.approx(0.8, abs=0.1)
    assert found.machine.cores == there.cores
    assert found.machine.clusters_cache
    assert {row.what for row in found.rows} >= {"add", "lock", "one way, same cluster", "one way, between sockets"}


def test_one_core_is_too_few():
    with pytest.raises(ValueError, match="two cores"):
        campaign.measure(lambda kind, cpus: 1.0, PLACES[:1])

# SPDX-License-Identifier: Apache-2.0
"""Stored runs of `tollbar bench nic`, made up: a machine that obeys the NIC paper's timing model."""

from pathlib import Path

import fake_program
import tollbar
from fake_program import environment, record
from tollbar.campaigns import work as work_campaign
from tollbar.data import results

#: A machine with two processors that obeys the model: a host's step, and the card's once and each step.
#: Below MPI everything takes half as long.
H, A, B, PROCESSORS = 10.0, 3.0, 2.0, 2
HOSTS = (2, 4, 8, 16)
WAYS = (("pairwise", "udp"), ("card:pairwise", "card"), ("card:switch", "card"))
DOORS = ("component by messages", "component on cards")
QUICK = tuple(dict.fromkeys(work_campaign.QUICK))


def barrier_us(name: str, hosts: int, setting: str = "") -> float:
    steps = hosts.bit_length() - 1
    by_host, on_card = H * steps, A + B * steps
    alone = {
        DOORS[0]: by_host, DOORS[1]: on_card,
        "pairwise": by_host / 2, "card:pairwise": on_card / 2, "card:switch": (A + B) / 2,
    }  # fmt: skip
    return max(1, hosts / PROCESSORS) * alone.get(name, alone.get(setting, 2 * H * steps))


def barriers(ranks: int, *ways: tuple[str, str], **more: str) -> list[dict]:
    slow = 5 if "mpi" in more else 1  # where the processors of this process lie
    made = [environment(ranks, **more), fake_program.floor(0, 30 * slow, 1400 * slow)]
    for name, kind in ways:
        us = barrier_us(name, ranks, more.get("setting", ""))
        label = {"name": name, "kind": kind}
        made.append(record("batch", episodes=1000, elapsed_ns=1e6 * us, cpu_ns=2e6 * us, **label))
    return [*made, record("done")]


def work(ranks: int, *ways: tuple[str, str], **more: str) -> list[dict]:
    made = [environment(ranks, computing="away", **more)]
    for workload in QUICK:
        compute_us, variation = tollbar.parse_workload(workload)
        longest_us = sum(compute_us) * (1 + variation / 2)
        for name, kind in ways:
            run_us = longest_us + len(compute_us) * barrier_us(name, ranks, more.get("setting", ""))
            made.append(
                record(
                    "work", name=name, kind=kind, workload=workload, phases=len(compute_us), runs=10,
                    elapsed_ns=1e4 * run_us, computing_ns=1e3 * sum(compute_us), longest_ns=1e3 * longest_us,
                )
            )  # fmt: skip
    return [*made, record("done")]


def store(within, kind: str, make, **facts) -> None:
    folder = results.new_run(within, kind)
    results.write_environment(folder, {"kind": kind, "usable": [0, 1], "model": "Replay", **facts})
    mpi = {"mpi": "Open MPI 4.1.4", "hosts": "2", "setting": "stock", "door": "none"}
    for group, hosts in enumerate(HOSTS):
        of_hosts, of_mpi = (make(hosts, *WAYS, network="namespaces"), make(hosts, ("MPI_Barrier", "mpi"), **mpi))
        launches = [("udp", of_hosts), ("mpi.stock", of_mpi)]
        for setting in DOORS:
            lines = make(hosts, ("MPI_Barrier", "door"), **mpi | {"setting": setting, "door": "component"})
            launches.append((f"mpi.{setting.replace(' ', '-')}", lines))
        for program, lines in launches:
            results.write_launch(folder, group, program, fake_program.text(lines))


def store_both(within: Path) -> None:
    """A run of barriers and one of workloads."""
    store(within, "udp", barriers, network="namespaces", mpis={"Open MPI 4.1.4": ""})
    store(within, "work", work, over=["hosts"], hosts=16)

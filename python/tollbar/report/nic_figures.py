# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 7 of the NIC paper from what was measured here, with the line of its timing model.

The model is that of section 2.3, fitted to the barriers back to back (nic_measured.py). nic_figures_work.py
has Figures 8 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tollbar
from tollbar.campaigns import work as work_campaign
from tollbar.data.workloads import Workloads
from tollbar.report import nic_measured, plots
from tollbar.report.nic_curves import (
    COLOURS,
    WAYS,
    Figure,
    curve,
    dashed,
    drawn,
    label,
    modelled,
    of_runs,
)
from tollbar.report.nic_measured import CARD, HOST, MPI_ON_CARD, Hosts, What
from tollbar.report.plots import Line

#: Figure 7 is four.
EFFICIENCIES = {"7a": 0.25, "7b": 0.5, "7c": 0.75, "7d": 0.9}


def of_barriers(hosts: Hosts) -> list[Figure]:
    """Figure 3; 4 and 5, which are one where all numbers of hosts stand on an axis; and CPU time."""
    made = []
    levels = _by_hosts(hosts, "period", (CARD, MPI_ON_CARD))
    if len(levels) == 2:
        levels.append(modelled(CARD, _barriers_ns(hosts, CARD)))
        made.append(
            drawn("3", "Barriers on the card, called as a library and by MPI_Barrier (Fig. 3)",
                  lambda name: plots.against(name, levels, "a barrier", xlabel="hosts"))
        )  # fmt: skip
    if latency := _by_hosts(hosts, "period"):
        latency += [modelled(way, each) for way in (HOST, CARD) if (each := _barriers_ns(hosts, way))]
        made.append(
            drawn("4a", "Barriers back to back (Fig. 4a, 5a)",
                  lambda name: plots.against(name, latency, "a barrier", xlabel="hosts"))
        )  # fmt: skip
    if factors := _factors(hosts):
        made.append(
            drawn("4b", "How many times as long the host-based barrier takes (Fig. 4b, 5b)",
                  lambda name: plots.over_plain(name, factors, "hosts", "times", "log"))
        )  # fmt: skip
    if cpu := _by_hosts(hosts, "cpu"):
        made.append(
            drawn("cpu", "CPU time of all hosts together for a barrier",
                  lambda name: plots.against(name, cpu, "CPU time", xlabel="hosts"))
        )  # fmt: skip
    return made


def of_grains(hosts: Hosts, work: Mapping[int, Workloads]) -> list[Figure]:
    """Figures 6 and 7: loops of computing that does not vary."""
    made = []
    for number in sorted({nearest(work, 2), nearest(work, 8)}) if work else ():
        if lines := _fine(hosts, number, work[number]):
            made.append(
                drawn(f"6-{number}", f"A loop of computing and a barrier, {number} hosts (Fig. 6)",
                      lambda name, lines=lines: plots.over_plain(name, lines, "µs of computing", "µs a loop"))
            )  # fmt: skip
    for number, efficiency in EFFICIENCIES.items():
        if lines := _needed(hosts, work, efficiency):
            made.append(
                drawn(number, f"Needed for an efficiency of {efficiency:g} (Fig. {number})",
                      lambda name, lines=lines: plots.against(name, lines, "time", xlabel="hosts"))
            )  # fmt: skip
    return made


def nearest(work: Mapping[int, Workloads], wanted: int) -> int:
    """The number of hosts that is the nearest to that of the paper."""
    return min(work, key=lambda number: abs(number - wanted))


def _by_hosts(hosts: Hosts, what: What, ways: Sequence[str] = WAYS) -> list[Line]:
    found = {way: hosts.series(way, what) for way in ways}
    return [curve(way, list(each), list(each.values())) for way, each in found.items() if len(each) > 1]


def _factors(hosts: Hosts) -> list[Line]:
    lines = []
    for way in WAYS:
        found = hosts.factor(way) if way != HOST else {}
        if len(found) > 1:
            low, high = (
                [getattr(each, end) or each.value for each in found.values()] for end in ("low", "high")
            )
            middle = [each.value for each in found.values()]
            lines.append(Line(label(way), list(found), middle, low, high, COLOURS[way], dashed(way)))
    host, card = (_barriers_ns(hosts, way) for way in (HOST, CARD))
    if lines and host:
        lines.append(modelled(CARD, {number: host[number] / card[number] for number in host}))
    return lines


def _barriers_ns(hosts: Hosts, way: str) -> dict[float, float]:
    """By the model, at the numbers of hosts that were measured."""
    return {n: 1e3 * us for n in hosts.compared if (us := hosts.modelled_us(way, n)) is not None}


def _fine(hosts: Hosts, number: int, found: Workloads) -> list[Line]:
    us = [name for name in work_campaign.FINE if name in found]
    lines = []
    for way in WAYS:
        runs = {float(name): run for name in us if (run := nic_measured.run_of(found, name, way))}
        lines += of_runs(way, runs)
    for way in (HOST, CARD) if lines else ():
        barrier_us = hosts.modelled_us(way, number)
        if barrier_us is not None:
            lines.append(modelled(way, {float(name): float(name) + barrier_us for name in us}))
    return lines


def _needed(hosts: Hosts, work: Mapping[int, Workloads], efficiency: float) -> list[Line]:
    """Computing and the whole loop as measured, and the computing by the model."""
    lines = []
    for way in (HOST, CARD):
        found = {
            number: needed
            for number, each in work.items()
            if (needed := nic_measured.needed(each, way, efficiency))
        }
        if len(found) > 1:
            computing = [1e3 * each.compute_us for each in found.values()]
            loops = [1e3 * each.loop_us for each in found.values()]
            lines.append(Line(f"{way}, computing", list(found), computing, colour=COLOURS[way]))
            lines.append(Line(f"{way}, the whole loop", list(found), loops, colour=COLOURS[way], dashed=True))
    for way in (HOST, CARD) if lines else ():
        barriers = {number: us for number in work if (us := hosts.modelled_us(way, number)) is not None}
        needs = {n: 1e3 * tollbar.nic_compute_us(us, efficiency) for n, us in barriers.items()}
        lines += [modelled(way, needs, ", computing")] if needs else []
    return lines

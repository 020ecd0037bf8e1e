# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 7 of the NIC paper from what was measured here, with the line of its timing model.

The model is that of section 2.3, fitted to the barriers back to back (nic_measured.py). nic_figures_work.py
has Figures 8 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tollbar
from tollbar.campaigns import work as work_campaign
from tollbar.data.places import Candidate, Here
from tollbar.data.workloads import Run, Workloads
from tollbar.report import candidates, curves, nic_measured, plots
from tollbar.report.curves import Figure, drawn
from tollbar.report.nic_measured import BELOW_MPI, CARD, GM_CARD, GM_HOST, HOST, LABELS, NAMES, WAYS, Hosts
from tollbar.report.plots import Line

#: In which colour everybody is on the figures; HB has one at both levels, and NB.
COLOURS = dict(zip(WAYS, candidates.colours(NAMES[way] for way in WAYS).values(), strict=True))
COLOURS |= {CARD: COLOURS[GM_CARD], GM_HOST: COLOURS[HOST]}

#: Figure 7 is four.
EFFICIENCIES = {"7a": 0.25, "7b": 0.5, "7c": 0.75, "7d": 0.9}


def curve(
    way: str, points: Mapping[float, tuple[Here, Candidate]], metric: str, unit_ns: float = 1.0
) -> list[Line]:
    """The medians, and the range in which eight of ten rounds lie; a single point makes no curve."""
    x = sorted(x for x, (here, candidate) in points.items() if here.median(candidate, metric))
    if len(x) < 2:
        return []
    ends = [points[each][0].quantiles(points[each][1], metric, (0.5, *curves.BAND)) for each in x]
    middle, low, high = ([value / unit_ns for value in column] for column in zip(*ends, strict=True))
    return [Line(LABELS.get(way, way), x, middle, low, high, COLOURS[way], dashed(way))]


def of_runs(way: str, runs: Mapping[float, Run]) -> list[Line]:
    """One curve of runs, in microseconds."""
    return curve(way, {x: (run.here, run.candidate) for x, run in runs.items()}, "run_ns", 1e3)


def dashed(way: str) -> bool:
    return way in BELOW_MPI


def modelled(way: str, values: Mapping[float, float], text: str = "") -> Line:
    """What the model gives."""
    x, y = list(values), list(values.values())
    return Line(f"{way} by the model{text}", x, y, colour=COLOURS[way], predicted=True)


def of_barriers(hosts: Hosts) -> list[Figure]:
    """Figure 3; 4 and 5, which are one where all numbers of hosts stand on an axis; and CPU time."""
    levels = _by_hosts(hosts, "period_ns", (GM_CARD, CARD))
    levels = [*levels, *_by_model(hosts, (GM_CARD, CARD))] if len(levels) == 2 else []
    if times := _by_hosts(hosts, "period_ns"):
        times += _by_model(hosts, (HOST, CARD))
    latency = "Barriers back to back (Fig. 4a, 5a)"
    called = "Barriers on the card, called as a library (GM level) and by MPI_Barrier (Fig. 3)"
    factor = "How many times as long the host-based barrier of that level takes (Fig. 4b, 5b)"
    cpu = "CPU time of all hosts together for a barrier"
    return [
        *drawn("nic-3", called, levels, plots.against, "a barrier", xlabel="hosts"),
        *drawn("nic-4a", latency, times, plots.against, "a barrier", xlabel="hosts"),
        *drawn("nic-4b", factor, _factors(hosts), plots.over_plain, "hosts", "times", "log"),
        *drawn("nic-cpu", cpu, _by_hosts(hosts, "cpu_ns"), plots.against, "CPU time", xlabel="hosts"),
    ]  # fmt: skip


def of_grains(hosts: Hosts, work: Mapping[int, Workloads]) -> list[Figure]:
    """Figures 6 and 7: loops of computing that does not vary."""
    made = []
    for number in sorted({nearest(work, 2), nearest(work, 8)}) if work else ():
        lines = _fine(hosts, number, work[number])
        text = f"A loop of computing and a barrier, {number} hosts (Fig. 6)"
        made += drawn(f"nic-6-{number}", text, lines, plots.over_plain, "µs of computing", "µs a loop")
    for number, efficiency in EFFICIENCIES.items():
        lines = _needed(hosts, work, efficiency)
        text = f"Needed for an efficiency of {efficiency:g} (Fig. {number})"
        made += drawn(f"nic-{number}", text, lines, plots.against, "time", xlabel="hosts")
    return made


def nearest(work: Mapping[int, Workloads], wanted: int) -> int:
    """The number of hosts that is the nearest to that of the paper."""
    return min(work, key=lambda number: abs(number - wanted))


def _by_hosts(hosts: Hosts, metric: str, ways: Sequence[str] = WAYS) -> list[Line]:
    return [line for way in ways for line in curve(way, hosts.found(way), metric)]


def _by_model(hosts: Hosts, ways: Sequence[str]) -> list[Line]:
    return [modelled(way, each) for way in ways if (each := _barriers_ns(hosts, way))]


def _factors(hosts: Hosts) -> list[Line]:
    lines = []
    for way in WAYS:
        found = hosts.factor(way) if way not in (HOST, GM_HOST) else {}
        if len(found) > 1:
            low, high = (
                [getattr(each, end) or each.value for each in found.values()] for end in ("low", "high")
            )
            middle = [each.value for each in found.values()]
            lines.append(
                Line(LABELS.get(way, way), list(found), middle, low, high, COLOURS[way], dashed(way))
            )
    host, card = (_barriers_ns(hosts, way) for way in (HOST, CARD))
    if lines and host and card:
        lines.append(modelled(CARD, {number: host[number] / card[number] for number in host}))
    return lines


def _barriers_ns(hosts: Hosts, way: str) -> dict[float, float]:
    """By the model, at the numbers of hosts that were measured."""
    return {n: 1e3 * us for n in hosts.there if (us := hosts.modelled_us(way, n)) is not None}


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

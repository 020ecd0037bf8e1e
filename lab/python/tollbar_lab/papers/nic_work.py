# SPDX-License-Identifier: Apache-2.0
"""Buntinas, Panda and Sadayappan, Figures 8 to 10: varying arrival times, and synthetic applications."""

from __future__ import annotations

from functools import cache
from typing import Literal

import tollbar

import tollbar_lab
from tollbar_lab.papers import nic_hosts
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, with_published
from tollbar_lab.papers.stored import Stored, any_of

NAME = "nic"
#: The nodes that each card was measured with.
NODES = {"lanai4.3": 16, "lanai7.2": 8}
WHERE: dict[str, Literal["host", "nic"]] = {"HB": "host", "NB": "nic"}
COMPUTE_US = (64, 128, 256, 512, 1024, 2048, 4096)
VARIATIONS = (0, 0.05, 0.1, 0.2, 0.5)
APPLICATION_NODES = 8
NODES_OVER = (2, 4, 8, 16)
SHORTEST = "360us"
_LOOPS = 400


@cache
def run_us(card: str, barrier: str, nodes: int, workload: str) -> float:
    """One run of all phases, in the mean."""
    compute_us, variation = tollbar.parse_workload(workload)
    runs = max(1, _LOOPS // len(compute_us)) if variation else 1
    outcome = tollbar_lab.simulate_nic(
        tollbar.plan("pairwise", nodes),
        WHERE[barrier],
        tollbar_lab.nic_parts(card),
        compute_us=compute_us,
        variation=variation,
        runs=runs,
    )
    return outcome.last_us / runs


def exhibits(runs: Stored) -> list[Exhibit]:
    return [_varying(runs), _difference(runs), *_applications(runs)]


def _varying(runs: Stored) -> Exhibit:
    points = [
        Point(f"{barrier} lanai4.3", us, model=run_us("lanai4.3", barrier, 16, f"{us}~0.2"))
        for barrier in WHERE
        for us in COMPUTE_US
    ]
    saved = {
        us: run_us("lanai4.3", "HB", 16, f"{us}~0.2") - run_us("lanai4.3", "NB", 16, f"{us}~0.2") for us in COMPUTE_US
    }
    first, last = COMPUTE_US[0], COMPUTE_US[-1]
    sentence = (
        f"With times that vary by 20 % the NIC-based barrier saves {saved[first]:.4g} us of a loop at "
        f"{first} us of computing and {saved[last]:.4g} us at {last} us."
    )
    points += nic_hosts.varying(runs, 0.2)
    title, axes = (
        "Total time of computation, varying at each node by 20%, followed by a barrier over 16 nodes",
        Axes("computing, us", "loop, us"),
    )
    return Exhibit(NAME, "Figure 8", title, axes, points, sentence, runs.missing("work", any_of(points)))


def _difference(runs: Stored) -> Exhibit:
    points = []
    for share in VARIATIONS:
        for us in COMPUTE_US:
            workload = f"{us}~{share:g}"
            saved = run_us("lanai4.3", "HB", 16, workload) - run_us("lanai4.3", "NB", 16, workload)
            points.append(Point(f"{share:.0%}", us, model=saved))
    still = [point.model or 0 for point in points if point.series == "0%"]
    most = [point.model or 0 for point in points if point.series == f"{VARIATIONS[-1]:.0%}"]
    sentence = (
        f"Without variation the difference stays {still[0]:.4g} us; with {VARIATIONS[-1]:.0%} it falls from "
        f"{most[0]:.4g} to {most[-1]:.4g} us."
    )
    points += nic_hosts.difference(runs)
    axes = Axes("computing, us", "host-based less NIC-based, us", log_y=False)
    return Exhibit(
        NAME,
        "Figure 9",
        "Difference in execution time between using host- and NIC-based barriers (16 nodes)",
        axes,
        points,
        sentence,
        runs.missing("work", any_of(points)),
        apart="GM level",
    )


def _applications(runs: Stored) -> list[Exhibit]:
    names = sorted(tollbar_lab.nic_applications(), key=lambda name: sum(tollbar_lab.nic_applications()[name]))
    times = {
        (card, barrier, name): run_us(card, barrier, APPLICATION_NODES, name)
        for card in NODES
        for barrier in WHERE
        for name in names
    }
    taken = [Point(f"{barrier} {card}", name, model=us) for (card, barrier, name), us in times.items()]
    gains = [
        Point(card, name, model=times[card, "HB", name] / times[card, "NB", name]) for card in NODES for name in names
    ]
    gains += [Point(f"{card} (nothing varies)", name, model=additive(card, name)) for card in NODES for name in names]
    largest = max((point for point in gains if point.model), key=lambda point: point.model or 0)
    gains.append(Point("largest factor", "any", model=largest.model))
    gains = with_published(gains, NAME, "Figure 10b")
    shares = [
        Point(f"{barrier} {card}", name, model=sum(tollbar_lab.nic_applications()[name]) / us)
        for (card, barrier, name), us in times.items()
    ]
    stated = next(point.published for point in gains if point.published)
    largest_text = (
        f"The model's largest factor, of {largest.series} with {largest.x}, is {largest.model:.3g}; the "
        f"stated {stated} cannot come from the printed latencies."
    )
    best = max(shares, key=lambda point: point.model or 0)
    title = f"Performance of synthetic benchmarks on {APPLICATION_NODES} nodes"
    first, last = names[0], names[-1]
    short_us, long_us = (times["lanai7.2", "NB", name] for name in (first, last))
    spans = f"{short_us:.4g} us for {first} and {long_us:.5g} us for {last}"
    efficient = f"The most efficient is {best.series} with {best.x}: {best.model:.1%} of the time is computing."
    taken += nic_hosts.applications(runs)
    gains += nic_hosts.gains(runs)
    shares += nic_hosts.shares(runs)
    return [
        Exhibit(
            NAME,
            number,
            f"{title}: {what}",
            Axes("computing", y, log_y=what == "time"),
            points,
            text,
            runs.missing("work", any_of(points)),
            aside,
        )
        for number, what, y, points, text, aside in (
            ("Figure 10a", "time", "run, us", taken, f"NIC-based on lanai7.2 a run takes {spans}.", ()),
            ("Figure 10b", "factor", "host-based over NIC-based", gains, largest_text, ("largest factor",)),
            ("Figure 10c", "efficiency", "share of computing", shares, efficient, ()),
        )
    ]


def over_nodes(card: str) -> list[float]:
    """The factor of the shortest application between 2, 4, 8 and 16 nodes."""
    return [run_us(card, "HB", nodes, SHORTEST) / run_us(card, "NB", nodes, SHORTEST) for nodes in NODES_OVER]


def additive(card: str, name: str) -> float:
    """The factor if every phase took its mean and then one barrier."""
    host, nic = (run_us(card, barrier, APPLICATION_NODES, f"{name}~0") for barrier in WHERE)
    return host / nic

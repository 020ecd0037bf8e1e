# SPDX-License-Identifier: Apache-2.0
"""Buntinas, Panda and Sadayappan: barriers on the network card, Figures 1 to 7 by their timing model.

Figures 8 to 10, whose nodes compute for times that vary, are in nic_work.py.
"""

from __future__ import annotations

from functools import cache

import tollbar

import tollbar_lab
from tollbar_lab.papers import nic_drawings, nic_hosts
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, at, printed, with_published
from tollbar_lab.papers.nic_work import NAME, NODES, WHERE
from tollbar_lab.papers.nic_work import exhibits as of_work
from tollbar_lab.papers.stored import Stored, any_of

PLAN = "pairwise"
EFFICIENCIES = {"Figure 7a": 0.25, "Figure 7b": 0.5, "Figure 7c": 0.75, "Figure 7d": 0.9}
_GM = "GM level"
_AXES = Axes("nodes", "barrier, us")
_LOOPS = Axes("nodes", "loop, or the computing in it, us")
FINE_US = (1.5, 4.5, 8.25, 17.25, 33.75, 64.5, 129.75)


@cache
def latency_us(card: str, barrier: str, nodes: int, mpi: bool = True) -> float:
    """HB or NB. The one parameter that no latency fixes lies half-way between its bounds."""
    parts = tollbar_lab.nic_parts(card)
    parts = parts if mpi else parts.without_mpi()
    return tollbar_lab.simulate_nic(tollbar.plan(PLAN, nodes), WHERE[barrier], parts).last_us


def factor(card: str, nodes: int) -> float:
    return latency_us(card, "HB", nodes) / latency_us(card, "NB", nodes)


def gm_factor(card: str) -> float:
    """The factor of the barriers below MPI, between all nodes of that card."""
    host, nic = (latency_us(card, barrier, NODES[card], mpi=False) for barrier in WHERE)
    return host / nic


def exhibits(runs: Stored) -> list[Exhibit]:
    return [
        *nic_drawings.exhibits(),
        _mpi_overhead(runs),
        _latencies(runs, "Figure 4a", powers=True),
        _factors(runs, "Figure 4b", powers=True),
        _latencies(runs, "Figure 5a", powers=False),
        _factors(runs, "Figure 5b", powers=False),
        _fine(runs),
        *(_efficiency(runs, number, efficiency) for number, efficiency in EFFICIENCIES.items()),
        *of_work(runs),
    ]


def _sizes(card: str, powers: bool) -> list[int]:
    return [n for n in range(2, NODES[card] + 1) if not powers or n & (n - 1) == 0]


def _mpi_overhead(runs: Stored) -> Exhibit:
    points = []
    for card, most in NODES.items():
        for level, mpi in (("MPI", True), ("GM", False)):
            points += [
                Point(f"{level} {card}", n, model=latency_us(card, "NB", n, mpi=mpi)) for n in _sizes(card, True)
            ]
        added = latency_us(card, "NB", most) - latency_us(card, "NB", most, mpi=False)
        points.append(Point(f"overhead {card}", most, model=added))
    points = [*with_published(points, NAME, "Figure 3"), *nic_hosts.levels(runs)]
    latencies = " and ".join(
        f"{latency_us(card, 'NB', most, mpi=False):.2f} us on {most} nodes of {card}" for card, most in NODES.items()
    )
    title = "GM barrier latencies and MPI barrier latencies of NIC-based barriers"
    sentence = f"Below MPI a NIC-based barrier takes {latencies}."
    aside = tuple(f"overhead {card}" for card in NODES)
    return Exhibit(NAME, "Figure 3", title, _AXES, points, sentence, runs.missing("udp", any_of(points)), aside)


def _latencies(runs: Stored, number: str, powers: bool) -> Exhibit:
    points = [
        Point(f"{barrier} {card}", n, model=latency_us(card, barrier, n))
        for card in NODES
        for barrier in WHERE
        for n in _sizes(card, powers)
    ]
    points = [*with_published(points, NAME, number), *nic_hosts.latencies(runs, powers)]
    seven, eight = (latency_us("lanai4.3", "NB", n) for n in (7, 8))
    sentence = (
        "The parameters reproduce the four printed latencies, which fix them."
        if powers
        else f"Off powers of two there are two steps more: NB of lanai4.3 takes {seven:.4g} us on 7 nodes "
        f"and {eight:.4g} us on 8."
    )
    title = f"NIC-based versus host-based barrier on {'powers of two' if powers else 'all numbers of'} nodes: latency"
    return Exhibit(NAME, number, title, _AXES, points, sentence, runs.missing("udp", any_of(points)))


def _factors(runs: Stored, number: str, powers: bool) -> Exhibit:
    points = [Point(card, n, model=factor(card, n)) for card in NODES for n in _sizes(card, powers)]
    if powers:
        largest = max(map(gm_factor, NODES))
        points.append(Point(_GM, "any", model=largest, measured=nic_hosts.largest_below_mpi(runs)))
    points = with_published(points, NAME, number)
    if powers:
        host, nic = (printed(NAME, "Figure 4a", f"{b} lanai4.3", 16).value for b in WHERE)
        stated = printed(NAME, number, "lanai4.3", 16).value
        sentence = (
            f"The latencies of lanai4.3 give {host} / {nic} = {host / nic:.3f}, not the stated {stated}; "
            f"those of lanai7.2 give {factor('lanai7.2', 8):.3f}. The GM level has up to "
            f"{printed(NAME, number, _GM, 'any').value} in another paper; the model's, of these cards, is "
            f"{largest:.2f}."
        )
    else:
        least = min(points, key=lambda point: point.model or 0)
        sentence = f"The factor is never below {least.model:.3f}, at {least.x} nodes of {least.series}."
    points += nic_hosts.factors(runs, powers)
    axes = Axes("nodes", "host-based over NIC-based", log_y=False)
    return Exhibit(
        NAME,
        number,
        "NIC-based versus host-based barrier: factor of improvement",
        axes,
        points,
        sentence,
        runs.missing("udp", any_of(points)),
        aside=(_GM,),
    )


def _fine(runs: Stored) -> Exhibit:
    points = [
        Point(f"{barrier} {card}", us, model=us + latency_us(card, barrier, 8))
        for card in NODES
        for barrier in WHERE
        for us in FINE_US
    ]
    points = [*with_published(points, NAME, "Figure 6"), *nic_hosts.fine(runs)]
    flat = {card: printed(NAME, "Figure 6", f"flat spot {card}", 8).value for card in NODES}
    overlaps = " and ".join(
        f"{latency_us(card, 'HB', NODES[card]) - implied_us(card, 'HB'):.1f} us ({card})" for card in NODES
    )
    sending = " and ".join(
        f"{needed_xmit_us(card):.1f} us where it is at most {longest_xmit_us(card):.1f} us ({card})" for card in NODES
    )
    sentence = (
        f"The model adds computing and barrier and has no flat spot; the paper sees {flat['lanai4.3']:g} and "
        f"{flat['lanai7.2']:g} us of overlap, its efficiencies imply {overlaps}. The model's NIC still sends when the "
        "next barrier begins, as the text explains the spot, but is free in time: to delay the next message it would "
        f"have to send for {sending}."
    )
    title, axes = (
        "Average execution time (compute time and barrier time) per loop on eight nodes",
        Axes("computing, us", "loop, us", log_x=False, log_y=False),
    )
    aside = tuple(f"flat spot {card}" for card in NODES)
    return Exhibit(NAME, "Figure 6", title, axes, points, sentence, runs.missing("work", any_of(points)), aside)


def needed_xmit_us(card: str) -> float:
    """How long a NIC has to send a message so that the loop has the flat spot of the text.

    A node in step passes its barrier one step after its last message was started, and computes; so that message is
    in the way of the next one for Xmit - H - C, with C of computing.
    """
    return tollbar_lab.nic_parts(card).host_step_us + printed(NAME, "Figure 6", f"flat spot {card}", 8).value


def longest_xmit_us(card: str) -> float:
    """The longest Xmit that Figure 2 and the printed latencies leave: it lies within Network + Recv."""
    return tollbar_lab.nic_part_ranges(card)["b"][1]


def implied_us(card: str, barrier: str) -> float:
    """The barrier whose loops B / (1 - e) at efficiency 0.50 are what is printed."""
    return printed(NAME, "Figure 7b", f"{barrier} {card}", NODES[card]).value * (1 - EFFICIENCIES["Figure 7b"])


def _efficiency(runs: Stored, number: str, efficiency: float) -> Exhibit:
    points = []
    for card, most in NODES.items():
        for barrier in WHERE:
            name = f"{barrier} {card}"
            points += [
                Point(name, n, model=tollbar_lab.nic_loop_us(latency_us(card, barrier, n), efficiency))
                for n in _sizes(card, True)
            ]
            points += [
                Point(
                    f"{name} (C by the text)",
                    n,
                    model=tollbar_lab.nic_compute_us(latency_us(card, barrier, n), efficiency),
                )
                for n in _sizes(card, True)
            ]
            loop_us = tollbar_lab.nic_loop_us(implied_us(card, barrier), efficiency)
            points.append(Point(f"{name} (B implied)", most, model=loop_us))
    points = with_published(points, NAME, number)
    for card, most in NODES.items():
        for barrier in WHERE:
            stated = at(points, f"{barrier} {card}", most).published
            if stated is not None:
                points = [
                    Point(p.series, p.x, published=stated, model=p.model)
                    if p.series == f"{barrier} {card} (B implied)"
                    else p
                    for p in points
                ]
    points += nic_hosts.efficiency(runs, efficiency)
    implied = ", ".join(f"{barrier} {card} {implied_us(card, barrier):.2f}" for card in NODES for barrier in WHERE)
    sentence = f"C / (C + B) = {efficiency} needs C = {efficiency / (1 - efficiency):.3g} B. "
    sentence += (
        f"What is printed is the whole loop B / (1 - e) of barriers of {implied} us."
        if number in ("Figure 7b", "Figure 7d")
        else "The paper prints no number of it."
    )
    title = f"Computation time required to achieve an efficiency factor of {efficiency:.2f}"
    missing, apart = runs.missing("work", any_of(points)), r"lanai[\d.]+|GM level"
    return Exhibit(NAME, number, title, _LOOPS, points, sentence, missing, apart=apart)

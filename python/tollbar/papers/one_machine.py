# SPDX-License-Identifier: Apache-2.0
"""Figures 9 and 12 of Seyedroudbari and Kadiyala with the same costs for both barriers of a figure.

Elsewhere each plan is fitted by itself, to the first number that is printed of it; two curves of one figure
are then of two machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import log

import tollbar
from tollbar.models import contention, cores
from tollbar.models.logp_fit import Measured
from tollbar.papers.exhibit import Axes, Exhibit, Point, printed
from tollbar.papers.published import values_of

NAME = "openmp-mpi"
_THREADS = (2, 3, 4, 6, 8, 12, 16)
_NODES = range(2, 13)
THREADS, NODES = "Figure 9 on one machine", "Figure 12 on one machine"
_SPIKE = 11  #: threads, of a number that the paper calls spurious
#: The barrier of Figure 7, as figures have it; the plan that sends its messages.
SENSE = "sense_reversing"
_PLANS = {SENSE: "central"}

#: A Xeon of 16 cores with one cache, the nearest to the paper's two Xeons of 12.
CACHES = "skylake"


@cache
def rows(number: str) -> tuple[Measured, ...]:
    """What is printed of a figure, but for what is called a spike."""
    return tuple(
        Measured(_PLANS.get(value.series, value.series), int(value.x), value.value)
        for value in values_of(NAME, number)
        if not (number == "Figure 9" and value.x == _SPIKE)
    )


@cache
def fitted(number: str, *, contended: bool) -> contention.Machine:
    """The machine that gives the numbers of that figure best."""
    return contention.fit(rows(number), contended=contended)


def off_pct(number: str, *, contended: bool) -> float:
    """How far that machine is from the worst of these numbers."""
    return 100 * contention.worst(fitted(number, contended=contended), rows(number))


def ratio(number: str, ranks: int, *, contended: bool) -> float:
    """The MCS tree over the figure's other barrier, by that machine."""
    machine = fitted(number, contended=contended)
    other = next(row.plan for row in rows(number) if row.plan != "mcs")
    return machine.price_us("mcs", ranks) / machine.price_us(other, ranks)


@cache
def simulated_us(barrier: str, threads: int, machine: str = CACHES) -> float:
    """On simulated caches; every flag of a plan has a line of its own."""
    return tollbar.simulate_cores(barrier, threads, machine=tollbar.cores_machine(machine)).barrier_us


@cache
def word_ratio(threads: int) -> float:
    """The MCS tree over a counter to which all threads add, whose additions wait for each other."""
    machine = tollbar.cores_machine(CACHES)
    tree, counter = (tollbar.plan(spelling, threads) for spelling in ("mcs", "turnstile"))
    costs = [cores.logp(machine, threads, cores.sharers(plan)) for plan in (tree, counter)]
    return tollbar.price(tree, costs[0]).last_us / tollbar.price(counter, costs[1]).last_us


def excess(threads: int) -> float:
    """What the MCS tree takes in print beyond the sense-reversing barrier, in microseconds."""
    return printed(NAME, "Figure 9", "mcs", threads).value - printed(NAME, "Figure 9", SENSE, threads).value


def excess_power() -> float:
    """The power of the threads with which that grows from 2 to 8."""
    return log(excess(8) / excess(2)) / log(8 / 2)


def exhibits() -> list[Exhibit]:
    return [
        Exhibit(NAME, number, f"Both barriers between {what}, the same costs", Axes(x, "us"), points, sentence)
        for number, what, x, points, sentence in (
            (THREADS, "threads", "threads", [*_points("Figure 9", _THREADS), *_simulated()], _threads()),
            (NODES, "processes", "nodes", _points("Figure 12", _NODES), _nodes()),
        )
    ]


def _points(number: str, sizes: Sequence[int]) -> list[Point]:
    points = []
    for contended in (False, True):
        machine = fitted(number, contended=contended)
        for plan in dict.fromkeys(row.plan for row in rows(number)):
            series = f"{plan}, messages in each other's way" if contended else plan
            printed_at = {
                value.x: value for value in values_of(NAME, number) if _PLANS.get(value.series, value.series) == plan
            }
            for n in sizes:
                point = Point(series, n, model=machine.price_us(plan, n))
                if value := printed_at.get(n):
                    point = replace(point, published=value.value, source=value.source)
                points.append(point)
    return points


def _simulated() -> list[Point]:
    return [
        Point(f"{plan}, simulated caches", n, model=simulated_us(plan, n))
        for plan in ("central", "mcs")
        for n in _THREADS
    ]


def _threads() -> str:
    return (
        "Both plans send the same messages, so the same costs give the MCS tree "
        f"{ratio('Figure 9', 8, contended=False):.2f} times the time of the counter at 8 threads, and "
        f"{ratio('Figure 9', 8, contended=True):.2f} times where messages are in each other's way; on "
        f"simulated caches it is {simulated_us('mcs', 8) / simulated_us('central', 8):.2f} times, in print "
        f"{printed_ratio(8):.1f}. What the print has beyond the counter grows with the power "
        f"{excess_power():.1f} of the threads."
    )


def _nodes() -> str:
    return (
        "At 12 nodes the same costs give the MCS tree "
        f"{ratio('Figure 12', 12, contended=False):.2f} times the time of dissemination, and "
        f"{ratio('Figure 12', 12, contended=True):.2f} times where each message has the network to itself "
        f"for {share_pct():.0f} % of the time that it takes; that gives the four printed numbers within "
        f"{off_pct('Figure 12', contended=True):.0f} %. From {100 * needed():.0f} % on the MCS tree is the "
        "faster one."
    )


def share_pct() -> float:
    """The part of a message's time in which no other passes, that gives the numbers of Figure 12 best."""
    costs = fitted("Figure 12", contended=True)
    return 100 * costs.alone_us / costs.message_us


def needed() -> float:
    """The part of a message in which it has to be alone so that the tree is not dearer at 12 nodes."""
    return contention.alone_for("mcs", "dissemination", 12) or 0.0


def printed_ratio(threads: int) -> float:
    """The MCS tree over the sense-reversing barrier, in print."""
    return printed(NAME, "Figure 9", "mcs", threads).value / printed(NAME, "Figure 9", SENSE, threads).value

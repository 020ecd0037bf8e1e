# SPDX-License-Identifier: Apache-2.0
"""Figures 9 and 12 of Seyedroudbari and Kadiyala: the same costs for both barriers of a figure.

Elsewhere each plan is fitted by itself, to the first number that is printed of it; two curves of one figure
are then of two machines.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import tollbar

import tollbar_lab
from tollbar_lab.models import contention, cores
from tollbar_lab.models.logp_fit import Measured
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, printed, with_published
from tollbar_lab.papers.published import values_of

NAME = "openmp-mpi"
_NODES = range(2, 13)
_SPIKE = 11  #: threads, of a number that the paper calls spurious
#: The barrier of Figure 7, as figures have it; the plan that sends its messages.
SENSE = "sense_reversing"
_PLANS = {SENSE: "central"}

_CACHES = "skylake"  # 16 cores with one cache, the nearest to the paper's two Xeons of 12


@cache
def rows(number: str) -> tuple[Measured, ...]:
    """The printed numbers of a figure, but for what is called a spike."""
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
    """The largest difference of that machine from these numbers, in percent."""
    return 100 * contention.worst(fitted(number, contended=contended), rows(number))


def ratio(number: str, ranks: int, *, contended: bool) -> float:
    """The MCS tree over the figure's other barrier, by that machine."""
    machine = fitted(number, contended=contended)
    other = next(row.plan for row in rows(number) if row.plan != "mcs")
    return machine.price_us("mcs", ranks) / machine.price_us(other, ranks)


@cache
def word_ratio(threads: int) -> float:
    """The MCS tree over a counter to which all threads add, whose additions wait for each other."""
    machine = tollbar_lab.cores_machine(_CACHES)
    tree, counter = (tollbar.plan(spelling, threads) for spelling in ("mcs", "turnstile"))
    costs = [cores.logp(machine, threads, cores.sharers(plan)) for plan in (tree, counter)]
    return tollbar.price(tree, costs[0]).last_us / tollbar.price(counter, costs[1]).last_us


def exhibits() -> list[Exhibit]:
    """Figure 12 once more; the errata have Figure 9, where no contention of messages gives what is printed."""
    number, points = "Figure 12", []
    for contended in (False, True):
        machine, how = fitted(number, contended=contended), ", messages in each other's way" if contended else ""
        priced = [Point(plan, n, model=machine.price_us(plan, n)) for plan in ("mcs", "dissemination") for n in _NODES]
        points += [replace(point, series=point.series + how) for point in with_published(priced, NAME, number)]
    sentence = (
        "At 12 nodes the same costs give the MCS tree "
        f"{ratio(number, 12, contended=False):.2f} times the time of dissemination, and "
        f"{ratio(number, 12, contended=True):.2f} times where each message has the network to itself "
        f"for {share_pct():.0f} % of the time that it takes; that gives the four printed numbers within "
        f"{off_pct(number, contended=True):.0f} %. From {100 * needed():.0f} % on the MCS tree is the "
        "faster one."
    )
    title, axes = "Both barriers between processes, the same costs", Axes("nodes", "barrier, us")
    return [Exhibit(NAME, f"{number} on one machine", title, axes, points, sentence)]


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

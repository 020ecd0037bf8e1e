# SPDX-License-Identifier: Apache-2.0
"""Sections 3.1 and 4 of Seyedroudbari and Kadiyala where they have no figure: spikes, growth, remedies, more threads.

The models are simulated caches: of a node as the paper's, with two sockets of 12 cores, and of a machine of 128.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import log2

import numpy as np
import tollbar
from tollbar.data.places import Measurements

import tollbar_lab
from tollbar_lab.papers import combined, stored
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, printed
from tollbar_lab.papers.published import values_of
from tollbar_lab.papers.stored import Stored

NAME = "openmp-mpi"
SENSE, TREE = "sense_reversing", "mcs"
#: The threads that section 3.1 has, and those beyond.
THREADS, MORE = range(2, 17), (8, 16, 32, 64, 128)
#: How a thread looks at the sense: at once, after a fixed delay, or after one that doubles.
_DELAYS = {
    "no delay": SENSE,
    "fixed delay of 100 ns": f"{SENSE}:100ns",
    "fixed delay of 400 ns": f"{SENSE}:400ns",
    "fixed delay of 1600 ns": f"{SENSE}:1600ns",
    "exponential back-off": f"{SENSE}:doubling",
}
_SOCKETS, _CORES = 2, 12  # of the paper's nodes
_LARGE = "epyc"
_COUNTED = "inside_ns"  #: the time that all spend in their calls
_AXES = Axes("threads", "barrier, us", log_x=False, log_y=False)
_SERIES = {
    "counter between threads": ("Figure 7", SENSE),
    "MCS tree between threads": ("Figure 8", TREE),
    "MCS tree between processes": ("Figure 10", TREE),
    "dissemination between processes": ("Figure 11", "dissemination"),
}
_THREADS_A_NODE = (2, 12)


@cache
def node() -> tollbar_lab.CoresMachine:
    """The caches of a machine that is built in, with the cores of the paper's nodes."""
    places = [(socket, socket) for socket in range(_SOCKETS) for _ in range(_CORES)]
    return tollbar_lab.cores_machine(_LARGE).changed(name="two sockets of 12", cores=places)


@cache
def simulated_us(barrier: str, threads: int, *, large: bool = False) -> float:
    """A barrier on the caches of the paper's node, or of the large machine."""
    machine = tollbar_lab.cores_machine(_LARGE) if large else node()
    return tollbar_lab.simulate_cores(barrier, threads, machine=machine).barrier_us


def maxima() -> list[int]:
    """The numbers of threads from 3 to 15 at which the counter takes longer than with one less and one more."""
    us = {threads: simulated_us(SENSE, threads) for threads in THREADS}
    return [n for n in THREADS[1:-1] if us[n] > max(us[n - 1], us[n + 1])]


def free_at() -> float:
    """The threads at which a straight line through the tree's printed times at 2 and 8 threads reaches 0."""
    two, eight = (printed(NAME, "Figure 8", TREE, n).value for n in (2, 8))
    return 2 - two * (8 - 2) / (eight - two)


def fits(most: int) -> tuple[float, float]:
    """The parts of the variance of the tree's price, from 2 threads to `most`, that a line and a logarithm explain."""
    threads = np.arange(2, most + 1)
    unit = tollbar.LogP(L=1, o=1, g=1)
    prices = np.array([tollbar.price(tollbar.plan(TREE, int(n)), unit).last_us for n in threads])
    line, logarithm = (np.corrcoef(curve, prices)[0, 1] ** 2 for curve in (threads, np.log2(threads)))
    return float(line), float(logarithm)


def growth() -> tuple[float, float]:
    """The tree's time at 11 threads over that at 8: in print, and of a logarithm through 2 and 8 threads."""
    two, eight, eleven = (printed(NAME, "Figure 8", TREE, n).value for n in (2, 8, 11))
    logarithm = two + (eight - two) * (log2(11) - log2(2)) / (log2(8) - log2(2))
    return eleven / eight, logarithm / eight


def about_spikes() -> str:
    """The judgement of the text about 9 and 12 threads, for Figure 7."""
    rise = simulated_us(SENSE, _CORES + 1) / simulated_us(SENSE, _CORES)
    return (
        "The text has maxima at 9 and 12 threads and calls them spurious: the price rises by the same with each "
        f"thread, and on simulated caches of two sockets of {_CORES} cores the counter has "
        f"{'no maximum' if not maxima() else 'maxima at ' + ', '.join(map(str, maxima()))} from 2 to 16 threads, "
        f"but a step to {rise:.1f} times at {_CORES + 1}, where the second socket begins."
    )


def about_growth() -> str:
    """The judgement of "linear up to 8 threads, logarithmic beyond", for Figure 8."""
    few, many = fits(8), fits(64)
    in_print, logarithm = growth()
    return (
        'The text has it "linear up to 8 threads, logarithmic beyond": of the price\'s variance a line explains '
        f"{few[0]:.3f} up to 8 threads and a logarithm {few[1]:.3f}, up to 64 threads {many[0]:.3f} and {many[1]:.3f}. "
        f"A line through the printed times of 2 and 8 threads costs nothing at {free_at():.2f} threads, and from 8 to "
        f"11 the print grows {in_print:.2f} times, a logarithm {logarithm:.2f} times."
    )


def exhibits(runs: Stored) -> list[Exhibit]:
    return [_delays(runs), _more(), _side_by_side(runs)]


def _measured(by_ranks: Mapping[int, Measurements], barrier: str, series: str) -> list[Point]:
    return stored.measured(by_ranks, stored.candidate(by_ranks, barrier, "auto"), series, None, barrier, _COUNTED)


def _delays(runs: Stored) -> Exhibit:
    """Section 3.1.3 claims that a fixed delay is better than back-off and none; it measures none of them."""
    points, timed_of = [], {}
    for series, barrier in _DELAYS.items():
        priced = [Point(series, threads, model=simulated_us(barrier, threads)) for threads in THREADS]
        timed = _measured(runs.threads, barrier, series)
        timed_of[barrier] = timed
        points += stored.merged(priced, timed)
    times = ", ".join(f"{series} {simulated_us(barrier, 16):.3g} us" for series, barrier in _DELAYS.items())
    sentence = (
        f"16 threads take, on simulated caches of two sockets of {_CORES} cores, {times}. Fixed delays win at "
        f"{_listed('fixed')} threads, back-off at {_listed('exponential')}, none at {_listed('no')}: the text's "
        '"fixed delay provides better latency" needs a delay for each number of threads.'
    )
    title = "Sense-reversing barrier with a fixed delay, with back-off and with none"
    return Exhibit(NAME, "Section 3.1.3", title, _AXES, points, sentence, runs.missing("threads", timed_of))


def fastest_delay(threads: int) -> str:
    """The way to look at the sense that is the fastest on the paper's node."""
    return min(_DELAYS, key=lambda series: simulated_us(_DELAYS[series], threads))


def _listed(way: str) -> str:
    """The numbers of threads at which a way with such a name is the fastest."""
    return ", ".join(str(threads) for threads in THREADS if fastest_delay(threads).startswith(way)) or "no number of"


def _more() -> Exhibit:
    """The paper expects the tree ahead beyond its 16 threads."""
    points = [
        Point(barrier, threads, model=simulated_us(barrier, threads, large=True))
        for barrier in (SENSE, TREE)
        for threads in MORE
    ]
    models = {(point.series, point.x): point.model or 0.0 for point in points}
    ratios = ", ".join(f"{models[SENSE, n] / models[TREE, n]:.2g} at {n}" for n in MORE)
    sentence = (
        "The paper expects the tree ahead with more threads than its 16. On simulated caches of 128 cores the "
        f"counter takes {ratios} threads times as long as the tree."
    )
    title, axes = "Both barriers between more than 16 threads, simulated", replace(_AXES, log_x=True, log_y=True)
    return Exhibit(NAME, "Section 3.1.3 beyond 16 threads", title, axes, points, sentence)


def _side_by_side(runs: Stored) -> Exhibit:
    """The barriers of threads, of processes and of both against the number of participants."""
    _, by_ranks = runs.mpi
    points: list[Point] = []
    for series, (number, name) in _SERIES.items():
        threads = number in ("Figure 7", "Figure 8")
        sizes = THREADS if threads else range(2, 13)
        priced = [Point(series, n, model=combined.level_us(number, name, n)) for n in sizes]
        in_print = [
            Point(series, value.x, published=value.value, source=value.source)
            for value in values_of(NAME, number)
            if value.series == name
        ]
        by_message = stored.by_messages(by_ranks, name)
        timed = (
            _measured(runs.threads, name, series)
            if threads
            else stored.measured(by_ranks, by_message, series, None, name, _COUNTED)
        )
        points += stored.merged(priced, in_print, timed)
    points += [
        Point(f"both levels, {threads} threads a node", threads * nodes, model=combined.model_us(nodes, threads))
        for threads in _THREADS_A_NODE
        for nodes in combined.NODES
    ]
    points += [
        Point(f"both levels, {point.series}", point.x * int(point.series.split()[0]), measured=point.measured)
        for point in combined.timed(runs)
    ]
    eight, ten = (printed(NAME, *place).value for place in (("Figure 7", SENSE, 8), ("Figure 10", TREE, 10)))
    sentence = (
        'The conclusion gives the counter between threads "the lowest latency among all the barriers". The print has '
        f"that for two participants only: the {eight:g} us of 8 threads are {eight / ten:.2f} times the {ten:g} us of "
        "the MCS tree between 10 processes, the highest of that tree."
    )
    by_messages = {stored.named(name): stored.by_messages(by_ranks, name) for name in ("dissemination", TREE)}
    lacks = (
        runs.missing("threads", {name: stored.candidate(runs.threads, name, "auto") for name in (SENSE, TREE)}),
        runs.missing("mpi", by_messages),
        runs.missing("hybrid", {"": runs.hybrid}),
    )
    title, axes = "Barriers between threads, between processes, and of both levels", Axes("participants", "barrier, us")
    missing = next(filter(None, lacks), None)
    return Exhibit(NAME, "Section 4", title, axes, points, sentence, missing, apart=combined.MPI)

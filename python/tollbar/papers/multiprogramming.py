# SPDX-License-Identifier: Apache-2.0
"""Markatos et al. 1991: barriers with fewer processors than threads, simulated as their section 3 says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import tollbar
from tollbar.models import crowd
from tollbar.papers.exhibit import Exhibit, Point, at, with_published
from tollbar.papers.stored import Stored
from tollbar.report import executions

NAME = "multiprogramming"
QUANTUM_MS = 20.0
SWITCH_US = 100.0
#: What their Figures 4 and 5 need a barrier to cost, in context switches; the text does not say.
BARRIER_SWITCHES = 0.625
THREADS = 16
_SPUN, _BLOCKED = 500, 60  # barriers a run: theirs, and enough where nothing depends on quanta
_COMPUTE_MS = (0.5, 1, 2, 4, 6, 8, 9.9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 26, 30, 34, 38)
_SWITCHES = (0.25, 0.5, 1, 2, 4, 7, 10, 14, 20, 30, 50)
_PROCESSORS = tuple(range(1, 17))
_STEPS_AT = (16, 8, 6, 4, 3, 2)


#: The barriers that are measured under these names.
_SHAPES = {"centralized": ("turnstile", "central"), "tree": ("mcs",), "combination": ("combination",)}


@cache
def per_barrier_ms(
    barrier: str, waiting: str, compute_ms: float, processors: int, placement: str = "cyclic"
) -> float:
    """Simulated; switches cost nothing to those that spin."""
    application = tollbar.SchedulerApplication(
        threads=THREADS,
        compute_us=1000 * compute_ms,
        barrier=barrier,
        waiting=waiting,
        barriers=_SPUN if waiting == "spin" else _BLOCKED,
        placement=placement,
    )
    outcome = tollbar.simulate_scheduler(
        [application],
        processors=processors,
        quantum_us=1000 * QUANTUM_MS,
        switch_us=0 if waiting == "spin" else SWITCH_US,
    )
    return outcome.applications[0].per_barrier_us / 1000


def overhead_pct(
    barrier: str, switches: float, barrier_switches: float = BARRIER_SWITCHES, placement: str = "cyclic"
) -> float:
    """Eight processors against twice the time of sixteen, with what a barrier costs besides waiting."""
    compute_ms, added_ms = switches * SWITCH_US / 1000, barrier_switches * SWITCH_US / 1000
    few, many = (
        per_barrier_ms(barrier, "smart", compute_ms, processors, placement) for processors in (8, 16)
    )
    return 100 * ((few + added_ms) / (2 * (many + added_ms)) - 1)


def quanta_of_pair(one: int, other: int) -> float:
    """Quanta a barrier of a spinning tree if these two threads share a processor and the others sit alone."""
    processor_of = [0] * THREADS
    for processor, thread in enumerate((t for t in range(THREADS) if t not in (one, other)), start=1):
        processor_of[thread] = processor
    application = tollbar.SchedulerApplication(
        threads=THREADS, compute_us=1000, barrier="tree", waiting="spin", barriers=_SPUN,
        placement="given", processor_of=processor_of,
    )  # fmt: skip
    outcome = tollbar.simulate_scheduler(
        [application], processors=THREADS - 1, quantum_us=1000 * QUANTUM_MS, switch_us=0
    )
    return outcome.applications[0].per_barrier_us / (1000 * QUANTUM_MS)


def exhibits(here: Stored) -> list[Exhibit]:
    return [
        _spinning(here, "Figure 1", "Tree against centralized spinning barriers, measured by the paper"),
        _spinning(here, "Figure 2", "Tree against centralized spinning barriers, simulated"),
        _blocking(here),
        _overhead(here, "Figure 4", "tree"),
        _overhead(here, "Figure 5", "combination"),
        _processors(here),
        *_histories(),
    ]


def _spinning(here: Stored, number: str, title: str) -> Exhibit:
    points = [
        Point(barrier, compute_ms, model=per_barrier_ms(barrier, "spin", compute_ms, 15))
        for barrier in ("centralized", "tree")
        for compute_ms in _COMPUTE_MS
    ]
    points = with_published(points, NAME, number)
    quanta = {b: (at(points, b, 1).model or 0) / QUANTUM_MS for b in ("centralized", "tree")}
    twelve = at(points, "centralized", 12).model or 0
    sentence = (
        f"With 1 ms of computing a centralized barrier takes {quanta['centralized']:.3f} of a quantum and a "
        f"tree {quanta['tree']:.3f}; at 12 ms the centralized one takes {twelve:.4g} ms, which is "
        f"Q (2R - 1) / R with R = 2 and not T (2R - 1) / R = {12 * 3 / 2:.3g} ms."
    )
    points += _here(here, ("centralized", "tree"), ("spin",))
    return Exhibit(
        NAME,
        number,
        f"{title}: 16 threads on 15 processors",
        "ms of computing between barriers",
        "ms a barrier",
        points,
        sentence,
        log_x=False,
        log_y=False,
        missing=here.missing("crowd"),
    )


def _blocking(here: Stored) -> Exhibit:
    points = [
        Point(f"{way}ing tree", compute_ms, model=per_barrier_ms("tree", waiting, compute_ms, 15))
        for way, waiting in (("spinn", "spin"), ("block", "smart"))
        for compute_ms in _COMPUTE_MS
    ]
    points = with_published(points, NAME, "Figure 3")
    over = {t: (at(points, "blocking tree", t).model or 0) / (2 * t) for t in (0.5, 2, 19)}
    told = ", ".join(f"{ratio:.3f} at {t:g} ms" for t, ratio in over.items())
    sentence = f"Blocking has no steps: its time over twice the computing time is {told}."
    points += _here(here, ("tree",), ("spin", "park"))
    return Exhibit(
        NAME,
        "Figure 3",
        "Spinning against blocking tree barriers: 16 threads on 15 processors",
        "ms of computing between barriers",
        "ms a barrier",
        points,
        sentence,
        log_x=False,
        log_y=False,
        missing=here.missing("crowd"),
    )


def _overhead(here: Stored, number: str, barrier: str) -> Exhibit:
    points = [Point(barrier, switches, model=overhead_pct(barrier, switches)) for switches in _SWITCHES]
    points = with_published(points, NAME, number)
    told = ", ".join(f"{at(points, barrier, x).model:.3g} % at {x:g}" for x in (0.5, 4, 20))
    sentence = (
        f"Threads placed i mod P, a barrier of {BARRIER_SWITCHES} switches and a yield to whoever can go on "
        f"give {told} switches of computing; the text states none of the three."
    )
    points += _overhead_here(here, barrier)
    return Exhibit(
        NAME,
        number,
        f"Overhead of blocking {barrier} barriers: 16 threads on 8 processors",
        "computing between barriers, in context switches",
        "% over twice the time on 16",
        points,
        sentence,
        log_y=False,
        missing=here.missing("crowd"),
    )


def _processors(here: Stored) -> Exhibit:
    compute_ms = 45.0  # the Gaussian elimination of the text, 450 switches
    points = [
        Point(
            f"blocking {barrier}",
            processors,
            model=per_barrier_ms(barrier, "smart", compute_ms, processors) / compute_ms,
        )
        for barrier in ("centralized", "tree")
        for processors in _PROCESSORS
    ]
    gain = 100 * (1 - _of(points, 4) / _of(points, 3))
    points.append(Point("gain of a fourth processor", 3, model=gain))
    points.append(
        Point("gain of seven more processors", 8, model=100 * (1 - _of(points, 15) / _of(points, 8)))
    )
    points = with_published(points, NAME, "Figure 6") + _processors_here(here)
    steps = [p for p in _PROCESSORS[1:] if _of(points, p - 1) > 1.05 * _of(points, p)]
    sentence = (
        f"Taking a processor away costs more than 5 % at {', '.join(map(str, reversed(steps)))} processors "
        f"and nowhere else; a fourth processor for 16 threads gains {gain:.3g} %."
    )
    return Exhibit(
        NAME,
        "Figure 6",
        "Completion time against processors, in times of 16",
        "processors",
        "times of computing (gains: %)",
        points,
        sentence,
        log_x=False,
        log_y=False,
        missing=here.missing("crowd"),
        aside=("gain of a fourth processor", "gain of seven more processors"),
    )


def _of(points: Sequence[Point], processors: int) -> float:
    return at(points, "blocking tree", processors).model or 0.0


def _crowded(here: Stored, shapes: Sequence[str], waits: Sequence[str]) -> list[crowd.Point]:
    """Measured with equal times, of barriers of these shapes."""
    names = [name for shape in shapes for name in _SHAPES[shape]]
    return [
        point
        for point in (here.crowds.points if here.crowds else ())
        if point.candidate.name in names and point.candidate.wait in waits and not point.place.variation
    ]


def _here(here: Stored, shapes: Sequence[str], waits: Sequence[str]) -> list[Point]:
    """On the processors that are here; the prediction is simulated with this machine's times."""
    return [
        Point(
            f"{point.candidate.label}, {point.place.text}",
            point.compute_us / 1000,
            measured=point.period.value / 1000,
            low=point.period.low and point.period.low / 1000,
            high=point.period.high and point.period.high / 1000,
            predicted=point.simulated.period_us / 1000,
        )
        for point in _crowded(here, shapes, waits)
    ]


def _overhead_here(here: Stored, shape: str) -> list[Point]:
    """Computing in context switches of this machine."""
    return [
        Point(
            f"{point.candidate.label}, {point.place.text}",
            round(point.compute_us / here.crowds.scheduler.switch_us(crowd.model_of(point.candidate)), 3),
            measured=point.overhead_pct,
            predicted=point.simulated_overhead_pct,
        )
        for point in _crowded(here, (shape,), ("park", "auto"))
        if here.crowds
    ]


def _processors_here(here: Stored) -> list[Point]:
    """The longest computing time, on each number of processors that was measured."""
    longest = max((point.compute_us for point in _crowded(here, _SHAPES, ("park",))), default=0.0)
    return [
        Point(
            f"{point.candidate.label}, {point.place.ranks} threads",
            point.place.processors,
            measured=point.period.value / point.compute_us,
            predicted=point.simulated.period_us / point.compute_us,
        )
        for point in _crowded(here, ("centralized", "tree"), ("park",))
        if point.compute_us == longest
    ]


def _histories() -> list[Exhibit]:
    """The simulator of section 3.1 draws a graphical history of an execution."""
    return [
        Exhibit(NAME, f"History {number}", caption, "", "", [], f"{caption}.", drawing=svg)
        for number, (caption, svg, _) in enumerate(executions.examples(), start=1)
    ]

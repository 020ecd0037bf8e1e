# SPDX-License-Identifier: Apache-2.0
"""Markatos et al. 1991: barriers with fewer processors than threads, simulated as their section 3 says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from tollbar.backports import zip_equal

import tollbar_lab
from tollbar_lab.models import quanta
from tollbar_lab.papers import histories, multiprogramming_measured
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, at, printed, with_published
from tollbar_lab.papers.stored import Stored, any_of

NAME = "multiprogramming"
QUANTUM_MS = 20.0
SWITCH_US = 100.0
#: The cost of a barrier that their Figures 4 and 5 need, in context switches; the text does not say.
BARRIER_SWITCHES = 0.625
#: How a blocked thread yields. Section 3.4: to the next thread of its processor, whatever that one waits for
#: (naive). Figure 5's numbers follow only where it yields to a thread that can go on (smart).
POLICY = {"Figure 3": "naive", "Figure 4": "naive", "Figure 5": "smart", "Figure 6": "naive"}
POLICIES = ("naive", "smart")
THREADS = 16
_SPUN, _BLOCKED = 500, 60  # barriers a run: theirs, and enough where nothing depends on quanta
COMPUTE_MS = (0.5, 1, 2, 4, 6, 8, 9.9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 26, 30, 34, 38)
#: The first stands for "extreme cases" and "below one context switch", for which the text has no computing time.
SMALLEST = 0.5
#: Close enough for the steps of a spinning barrier: they begin at the quantum, and where R of the appendix changes.
_STEPS_MS = sorted({*COMPUTE_MS, *(half / 2 for half in range(1, 80)), 10.05, 13.4, 16.1, 19.9, 20.05, 30.05, 39.9})
_SWITCHES = (SMALLEST, 1, 2, 4, 7, 10, 14, 20, 30, 50)
_PROCESSORS = tuple(range(1, 17))
_TIMES = Axes("computing between barriers, ms", "time a barrier, ms", log_x=False, log_y=False)
_APART = r"\d+ processors?"  #: of what was measured
_SHARES = Axes("computing between barriers, in context switches", "over 16 / P times the time on 16, %", log_y=False)

#: So long a word of memory serves one thread; the paper prints no such time.
ACCESS_US = 20.0
#: Computing time below a multiple of the quantum, in accesses.
_BELOW = (0.5, 1, 2, 2.9, 3.1, 4, 6, 8, 10, 12, 14, 15.9, 16.1, 18, 20, 24, 28, 32, 40)
_TURNS = ", accesses take turns"
_BELOW_MS = 19.5
_MULTIPLES = {"below one quantum": 1, "below two": 2}


@cache
def per_barrier_ms(
    barrier: str, waiting: str, compute_ms: float, processors: int, placement: str = "cyclic", access_us: float = 0
) -> float:
    """Simulated; switches cost nothing to those that spin."""
    application = tollbar_lab.SchedulerApplication(
        threads=THREADS,
        compute_us=1000 * compute_ms,
        barrier=barrier,
        waiting=waiting,
        barriers=_SPUN if waiting == "spin" else _BLOCKED,
        placement=placement,
    )
    outcome = tollbar_lab.simulate_scheduler(
        [application],
        processors=processors,
        quantum_us=1000 * QUANTUM_MS,
        switch_us=0 if waiting == "spin" else SWITCH_US,
        access_us=access_us,
    )
    return outcome.applications[0].per_barrier_us / 1000


def below_ms(barrier: str, multiple: int, accesses: float, access_us: float = ACCESS_US) -> float:
    """A spinning barrier whose computing time is so many accesses below a multiple of the quantum."""
    compute_ms = multiple * QUANTUM_MS - accesses * ACCESS_US / 1000
    return per_barrier_ms(barrier, "spin", compute_ms, THREADS - 1, access_us=access_us)


def overhead_pct(
    barrier: str,
    switches: float,
    waiting: str = "naive",
    processors: int = 8,
    barrier_switches: float = BARRIER_SWITCHES,
    placement: str = "cyclic",
) -> float:
    """P processors against 16 / P times the time of sixteen, with what a barrier costs besides waiting."""
    compute_ms, added_ms = switches * SWITCH_US / 1000, barrier_switches * SWITCH_US / 1000
    few, many = (per_barrier_ms(barrier, waiting, compute_ms, p, placement) for p in (processors, THREADS))
    return 100 * ((few + added_ms) * processors / (THREADS * (many + added_ms)) - 1)


def quanta_of_pair(one: int, other: int) -> float:
    """Quanta a barrier of a spinning tree if these two threads share a processor and the others sit alone."""
    return quanta_of_groups(THREADS, (one, other))


def quanta_of_groups(threads: int, *groups: tuple[int, ...]) -> float:
    """Quanta a barrier of a spinning tree whose threads share processors in these groups and else sit alone."""
    processor_of = [0] * threads
    shared = {thread: number for number, group in enumerate(groups) for thread in group}
    alone = iter(range(len(groups), threads))
    for thread in range(threads):
        processor_of[thread] = shared[thread] if thread in shared else next(alone)
    application = tollbar_lab.SchedulerApplication(
        threads=threads,
        compute_us=1000,
        barrier="tree",
        waiting="spin",
        barriers=_SPUN,
        placement="given",
        processor_of=processor_of,
    )
    processors = threads - sum(len(group) - 1 for group in groups)
    outcome = tollbar_lab.simulate_scheduler(
        [application], processors=processors, quantum_us=1000 * QUANTUM_MS, switch_us=0
    )
    return outcome.applications[0].per_barrier_us / (1000 * QUANTUM_MS)


def quanta_by_text(threads: int) -> int:
    """ceil(log4 P) ceil(T / Q) of the text, with T below Q."""
    return next(levels for levels in range(threads) if 4**levels >= threads)


def exhibits(runs: Stored) -> list[Exhibit]:
    return [
        _spinning(runs, "Figure 1", "Measured execution time of tree versus centralized spinning barriers"),
        _spinning(runs, "Figure 2", "Simulation of tree versus centralized spinning barriers"),
        _near_multiples(),
        _blocking(runs),
        _overhead(runs, "Figure 4", "tree"),
        _overhead(runs, "Figure 5", "combination"),
        _programs(),
        _fewer(),
        _processors(runs),
        _appendix(),
        *histories.exhibits(),
    ]


def _spinning(runs: Stored, number: str, title: str) -> Exhibit:
    """The text of Figure 1 has the tree ahead just below multiples; Figure 2's simulator has no such accesses."""
    ways = {"": 0.0} | ({_TURNS: ACCESS_US} if number == "Figure 1" else {})
    points = [
        Point(barrier + way, compute_ms, model=per_barrier_ms(barrier, "spin", compute_ms, 15, access_us=access_us))
        for way, access_us in ways.items()
        for barrier in ("centralized", "tree")
        for compute_ms in _STEPS_MS
    ]
    steps = tuple(dict.fromkeys(point.series for point in points))
    points = with_published(points, NAME, number)
    quanta = {b: (at(points, b, 1).model or 0) / QUANTUM_MS for b in ("centralized", "tree")}
    twelve = at(points, "centralized", 12).model or 0
    sentence = (
        f"With 1 ms of computing a centralized barrier takes {quanta['centralized']:.3f} of a quantum and a "
        f"tree {quanta['tree']:.3f}; at 12 ms the centralized one takes {twelve:.4g} ms, which is "
        f"Q (2R - 1) / R with R = 2 and not T (2R - 1) / R = {12 * 3 / 2:.3g} ms."
    )
    if _TURNS in ways:
        below = " and ".join(f"{at(points, b + _TURNS, _BELOW_MS).model:.1f}" for b in ("centralized", "tree"))
        sentence += (
            f" Where an access to a word takes {ACCESS_US:g} us, which the paper does not say, the two take {below} ms "
            f"at {_BELOW_MS} ms, just below the quantum: the tree is ahead there, as the text says."
        )
    points += multiprogramming_measured.times(runs, ("centralized", "tree"), ("spin",))
    title += ": 16 threads on 15 processors"
    missing = runs.missing("crowd", any_of(points))
    return Exhibit(NAME, number, title, _TIMES, points, sentence, missing, steps=steps, apart=_APART)


def _near_multiples() -> Exhibit:
    """Figure 1 against Figure 2: what memory that serves one access at a time does to both barriers."""
    points = [
        Point(f"{barrier} {where}", x * ACCESS_US, model=below_ms(barrier, multiple, x))
        for where, multiple in _MULTIPLES.items()
        for barrier in ("centralized", "tree")
        for x in _BELOW
    ]
    times = {
        (barrier, access_us): " and ".join(f"{below_ms(barrier, m, 10, access_us):.1f}" for m in (1, 2))
        for barrier in ("centralized", "tree")
        for access_us in (0, ACCESS_US)
    }
    sentence = (
        f"Where an access takes {ACCESS_US:g} us, a tree takes {times['tree', ACCESS_US]} ms at 10 accesses "
        f"below one and two quanta, and a centralized barrier {times['centralized', ACCESS_US]} ms; where "
        f"accesses are free, {times['tree', 0]} against {times['centralized', 0]} ms. The place is in "
        "proportion to the access."
    )
    title = "Tree against centralized spinning barriers where accesses to a word take turns"
    axes = replace(_TIMES, x="computing below a multiple of the quantum, us")
    return Exhibit(NAME, "Figure 1 near multiples", title, axes, points, sentence)


def _blocking(runs: Stored) -> Exhibit:
    points = [
        Point(f"{way}ing tree", compute_ms, model=per_barrier_ms("tree", waiting, compute_ms, 15))
        for way, waiting in (("spinn", "spin"), ("block", POLICY["Figure 3"]))
        for compute_ms in (_STEPS_MS if waiting == "spin" else COMPUTE_MS)
    ]
    points = with_published(points, NAME, "Figure 3")
    over = {t: (at(points, "blocking tree", t).model or 0) / (2 * t) for t in (0.5, 2, 19)}
    ratios = ", ".join(f"{ratio:.3f} at {t:g} ms" for t, ratio in over.items())
    sentence = f"Blocking has no steps: its time over twice the computing time is {ratios}."
    points += multiprogramming_measured.times(runs, ("tree",), ("spin", "park"))
    title = "Measured execution time of spinning versus blocking tree barriers: 16 threads on 15 processors"
    missing = runs.missing("crowd", any_of(points))
    steps = ("spinning tree",)
    return Exhibit(NAME, "Figure 3", title, _TIMES, points, sentence, missing, steps=steps, apart=_APART)


def _other(policy: str) -> str:
    return next(other for other in POLICIES if other != policy)


def _overhead(runs: Stored, number: str, barrier: str) -> Exhibit:
    """The barrier's own name is the policy that the figure needs; the other one stands beside it."""
    policy = POLICY[number]
    other = f"{barrier}, {_other(policy)} yield"
    points = [Point(barrier, x, model=overhead_pct(barrier, x, policy)) for x in _SWITCHES]
    points += [Point(other, x, model=overhead_pct(barrier, x, _other(policy))) for x in _SWITCHES]
    points = with_published(points, NAME, number)
    overheads, other_overheads = (
        ", ".join(f"{at(points, series, x).model:.3g} % at {x:g}" for x in (SMALLEST, 4, 20))
        for series in (barrier, other)
    )
    most = f"{printed(NAME, 'Figure 4', 'tree', SMALLEST).value:g} and "
    most += f"{printed(NAME, 'Figure 5', 'combination', SMALLEST).value:g} %"
    why = {
        "naive": "a yield to the next thread of the processor, which section 3.4 describes,",
        "smart": "a yield to a thread that can go on, which section 3.4 does not describe,",
    }[policy]
    sentence = (
        f"Threads placed i mod P, a barrier of {BARRIER_SWITCHES} switches and {why} give {overheads} "
        f"switches of computing; the {_other(policy)} yield gives {other_overheads}. The text has no computing "
        f"time for its largest overheads, {most}; at {SMALLEST:g} and {SMALLEST / 2:g} switches the model has "
        f"{largest(SMALLEST)} and {largest(SMALLEST / 2)}."
    )
    points += multiprogramming_measured.overhead(runs, barrier)
    title = f"Measured overhead of blocking {barrier} barriers for 16 threads on 8 processors"
    missing = runs.missing("crowd", any_of(points))
    return Exhibit(NAME, number, title, _SHARES, points, sentence, missing, apart=_APART)


#: Programs of the text, and the milliseconds between their barriers on a BBN Butterfly.
PROGRAMS = {
    "Gaussian elimination, 45 ms": 45.0,
    "Dijkstra's shortest path, odd-even sort, 10 ms": 10.0,
    "Dijkstra's shortest path, odd-even sort, 5 ms": 5.0,
}


def _programs() -> Exhibit:
    """The text has these programs as examples of a negligible overhead with combination barriers."""
    ways = [("combination", POLICY["Figure 5"]), ("combination", POLICY["Figure 4"]), ("tree", POLICY["Figure 4"])]
    overheads = {
        (barrier, waiting, program): overhead_pct(barrier, 1000 * ms / SWITCH_US, waiting)
        for barrier, waiting in ways
        for program, ms in PROGRAMS.items()
    }
    points = [Point(f"{b}, {waiting} yield", program, model=pct) for (b, waiting, program), pct in overheads.items()]
    best = ", ".join(
        f"{overheads['combination', 'smart', program]:.2g} % at {ms:g} ms" for program, ms in PROGRAMS.items()
    )
    seconds = 512 * per_barrier_ms("combination", "smart", 45.0, 8) / 1000
    sentence = (
        f"With combination barriers and a switch of {SWITCH_US / 1000:g} ms the overhead on 8 processors is "
        f"{best}, and {max(overheads.values()):.2g} % at most in any row: negligible, as the text has it. A Gaussian "
        f"elimination of 512 barriers takes {seconds:.1f} s there, twice the {512 * 0.045:.1f} s on 16 processors."
    )
    title = "Programs that synchronize every 45 and every 5-10 ms: 16 threads on 8 processors"
    axes = replace(_SHARES, x="program, computing between barriers")
    return Exhibit(NAME, "Section 4.1 programs", title, axes, points, sentence)


def largest(switches: float) -> str:
    """The overheads of Figures 4 and 5 at so short a computing time."""
    four = overhead_pct("tree", switches, POLICY["Figure 4"])
    return f"{four:.0f} and {overhead_pct('combination', switches, POLICY['Figure 5']):.0f} %"


def _fewer() -> Exhibit:
    """Section 4.1: "the results for 4, 2 and 1 processor are similar" to those of Figure 4."""
    points = [
        Point(f"{waiting} yield on {p}", x, model=overhead_pct("tree", x, waiting, p))
        for waiting in POLICIES
        for p in (8, 4, 2, 1)
        for x in _SWITCHES
    ]
    points = with_published(points, NAME, "Section 4.1")
    overheads = {
        waiting: ", ".join(f"{at(points, f'{waiting} yield on {p}', 4).model:.1f}" for p in (8, 4, 2, 1))
        for waiting in POLICIES
    }
    sentence = (
        "At 4 switches of computing 8, 4, 2 and 1 processors have an overhead of "
        f"{overheads['naive']} % with the yield of section 3.4, so the text is right that they are similar; "
        f"with a yield to a thread that can go on they have {overheads['smart']} %."
    )
    title = "Overhead of blocking tree barriers on 8, 4, 2 and 1 processors"
    return Exhibit(NAME, "Section 4.1", title, _SHARES, points, sentence)


def _processors(runs: Stored) -> Exhibit:
    compute_ms = 45.0  # the Gaussian elimination of the text, 450 switches
    points = [
        Point(
            f"blocking {barrier}" + (f", {waiting} yield" if waiting != POLICY["Figure 6"] else ""),
            processors,
            model=per_barrier_ms(barrier, waiting, compute_ms, processors) / compute_ms,
        )
        for waiting in POLICIES
        for barrier in ("centralized", "tree")
        for processors in _PROCESSORS
    ]
    stepped = tuple(dict.fromkeys(point.series for point in points))
    gain = 100 * (1 - _of(points, 4) / _of(points, 3))
    points.append(Point("gain of a fourth processor", 3, model=gain))
    points.append(Point("gain of seven more processors", 8, model=100 * (1 - _of(points, 15) / _of(points, 8))))
    points = with_published(points, NAME, "Figure 6") + multiprogramming_measured.processors(runs)
    steps = [p for p in _PROCESSORS[1:] if _of(points, p - 1) > 1.05 * _of(points, p)]
    sentence = (
        f"Taking a processor away costs more than 5 % at {', '.join(map(str, reversed(steps)))} processors "
        f"and nowhere else; a fourth processor for 16 threads gains {gain:.3g} %."
    )
    title, axes = (
        "Effect of the number of processors on completion time (16 threads)",
        Axes("processors", "completion time over computing time", False, False),
    )
    aside = ("gain of a fourth processor", "gain of seven more processors")
    missing = runs.missing("crowd", any_of(points))
    return Exhibit(NAME, "Figure 6", title, axes, points, sentence, missing, aside, stepped)


def _of(points: Sequence[Point], processors: int) -> float:
    return at(points, "blocking tree", processors).model or 0.0


def _appendix() -> Exhibit:
    """The recurrence of the appendix and its closed form, beside the simulator."""
    points = []
    for compute_ms in (ms for ms in COMPUTE_MS if QUANTUM_MS / 2 < ms < QUANTUM_MS):
        ratio = Fraction(QUANTUM_MS) / Fraction(str(compute_ms))
        taken = quanta.quanta_for(_SPUN, ratio) + 1
        simulated = per_barrier_ms("centralized", "spin", compute_ms, THREADS - 1)
        points += [
            Point("recurrence", compute_ms, model=taken * QUANTUM_MS / _SPUN),
            Point("Q (2R - 1) / R", compute_ms, model=float(quanta.closed_form(1, ratio)) * QUANTUM_MS),
            Point("simulated", compute_ms, model=simulated),
            Point("R", compute_ms, model=float(quanta.pattern(ratio))),
        ]
    ways = [[p.model or 0 for p in points if p.series == s] for s in ("recurrence", "Q (2R - 1) / R", "simulated")]
    apart = max(max(ms) / min(ms) - 1 for ms in zip_equal(*ways))
    sentence = (
        f"R barriers take 2R - 1 quanta, with R = ceil(1 / (Q / T - 1)): from half a quantum of computing to "
        f"a whole one recurrence, closed form and simulator differ by {100 * apart:.2g} % at most."
    )
    title = "Quanta of a centralized spinning barrier: recurrence, closed form and simulator"
    return Exhibit(NAME, "Appendix", title, _TIMES, points, sentence, aside=("R",))

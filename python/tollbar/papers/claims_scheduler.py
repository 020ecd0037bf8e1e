# SPDX-License-Identifier: Apache-2.0
"""The claims of Markatos et al. about barriers on too few processors, by its simulator and its appendix."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil

from tollbar.models import quanta
from tollbar.papers import multiprogramming as model
from tollbar.papers import multiprogramming_partitions as partitions
from tollbar.papers.verdict import UNDECIDABLE, Row, decided

_LITTLE_MS = 0.001
_SPINNING = ("centralized", "tree")
_SHOWN = (0.5, 1, 2, 4, 7, 10, 14, 20, 30, 50)  # computing of Figure 4, in switches
_GAUSS_MS = 45.0


def multiprogramming_claims() -> Iterator[Row]:
    yield from _spinning()
    yield from _blocking()
    yield from _balance()
    yield from _processors()
    yield from _appendix()
    yield (
        "3.3",
        "an adaptive combining tree has no delay at every level",
        UNDECIDABLE,
        "it is discussed, not simulated or measured, by the paper and here",
    )
    yield from _coscheduling()
    yield (
        "5",
        "many of the results apply to machines with uniform memory",
        UNDECIDABLE,
        "neither caches nor migration are simulated",
    )


def _spun(barrier: str, compute_ms: float) -> float:
    """Quanta a barrier on 15 processors."""
    return model.per_barrier_ms(barrier, "spin", compute_ms, 15) / model.QUANTUM_MS


def _spinning() -> Iterator[Row]:
    tree = _spun("tree", _LITTLE_MS)
    yield (
        "beside Figure 1",
        "a tree takes two quanta however little is computed",
        decided(abs(tree - 2) < 0.01),
        f"at {_LITTLE_MS} ms of computing it takes {tree:.3f}, where threads 0 and 15 share the processor",
    )
    half = [_spun("centralized", ms) for ms in (_LITTLE_MS, 1, 4, 9.9)]
    yield (
        "beside Figure 1",
        "a centralized barrier takes one quantum below half a quantum of computing",
        decided(max(half) < 1.01),
        f"up to 9.9 ms it takes {min(half):.3f} to {max(half):.3f}",
    )
    times = model.COMPUTE_MS
    behind = [_spun("tree", ms) - _spun("centralized", ms) for ms in times]
    yield (
        "beside Figure 2",
        "in simulation a tree is never better than a centralized barrier",
        decided(min(behind) > -1e-3),
        f"over {len(times)} computing times it is {min(behind):.3f} to {max(behind):.3f} quanta behind",
    )
    near = _spun("tree", 19.99) - _spun("centralized", 19.99)
    yield (
        "beside Figure 2",
        "near a multiple of the quantum the difference is close to zero",
        decided(near < 0.05),
        f"at 19.99 ms a tree is {near:.3f} quanta behind",
    )
    places = [(multiple, accesses) for multiple in (1, 2) for accesses in (4, 8, 12, 14)]
    counter_ms, tree_ms = ([model.below_ms(barrier, *at) for at in places] for barrier in _SPINNING)
    free = [[model.below_ms(barrier, *at, access_us=0) for at in places] for barrier in _SPINNING]
    ahead = [slow - fast for slow, fast in zip(counter_ms, tree_ms, strict=True)]
    behind_free = [slow - fast for fast, slow in zip(*free, strict=True)]
    yield (
        "beside Figure 1",
        "measured, a tree is better a little below a multiple of the quantum",
        decided(min(ahead) > 0 <= min(behind_free)),
        f"where a word of memory serves one access of {model.ACCESS_US:g} us at a time, a tree is at "
        f"least {min(ahead):.1f} ms ahead from 4 to 14 accesses below one and two quanta, because 15 "
        "arrivals at one counter do not end within the quantum any more; where accesses are free it is "
        f"{min(behind_free):.2f} to {max(behind_free):.2f} ms behind",
    )
    yield (
        "beside Figure 2",
        "its linear time and its contention make a centralized barrier slower than its simulation",
        decided(all(new > old for new, old in zip(counter_ms, free[0], strict=True))),
        f"at those places it takes {min(counter_ms):.1f} to {max(counter_ms):.1f} ms in place of "
        f"{min(free[0]):.1f} to {max(free[0]):.1f}; how far from a quantum that happens is in proportion to "
        "the access, of which the paper prints no time",
    )
    levels = {ms: _spun("tree", ms) for ms in (19.0, 38.0)}
    yield (
        "3.3",
        "a tree takes ceil(log4 P) ceil(T / Q) quanta",
        decided(all(abs(taken - 2 * ceil(ms / model.QUANTUM_MS)) < 0.05 for ms, taken in levels.items())),
        ", ".join(f"{taken:.2f} at {ms:g} ms" for ms, taken in levels.items()),
    )


def _blocking() -> Iterator[Row]:
    over = [model.per_barrier_ms("tree", "naive", ms, 15) for ms in model.COMPUTE_MS]
    steps = [
        (later - before) / (2 * (to - since))
        for (since, before), (to, later) in pairwise(zip(model.COMPUTE_MS, over, strict=True))
    ]
    yield (
        "beside Figure 3",
        "blocking is a smooth function of the frequency",
        decided(max(steps) < 1.1 > min(steps)),
        f"between neighbouring computing times it grows by {min(steps):.2f} to {max(steps):.2f} times "
        "twice the "
        "difference; spinning has steps of a quantum",
    )
    far, by_smart = (max(model.furthest_from_eight(way, x) for x in _SHOWN) for way in model.POLICIES)
    yield (
        "4.1",
        "the results for 4, 2 and 1 processors are similar to those for 8",
        decided(far < 1.5),
        f"with the yield of section 3.4 they differ by a factor of {far:.2f} at most, from 0.5 to 50 "
        "switches; "
        f"with a yield to a thread that can go on, by {by_smart:.2f}",
    )
    twenty = model.overhead_pct("tree", 20)
    yield (
        "4.1",
        "above 20 switches of computing the overhead of a tree is below 10 %",
        decided(twenty < 10),
        f"{twenty:.1f} % at 20, {model.overhead_pct('tree', 50):.1f} % at 50",
    )
    products = [model.overhead_pct("tree", x) * (x + model.BARRIER_SWITCHES) / 100 for x in (0.5, 1, 2, 4, 10, 20)]
    plain = [model.overhead_pct("tree", x) * x / 100 for x in (0.5, 20)]
    yield (
        "4.1",
        "the overhead is inversely proportional to the computation between barriers",
        decided(max(products) < 1.15 * min(products)),
        f"to computation and barrier together: overhead times both is {min(products):.2f} to "
        f"{max(products):.2f} "
        f"switches from 0.5 to 20; times computation alone it grows from {plain[0]:.2f} to {plain[1]:.2f}",
    )
    where = next(x / 1000 for x in range(250, 1000) if model.overhead_pct("tree", x / 1000) <= 158)
    yield (
        "beside Figure 5",
        "a tree has an overhead of as much as 158 %",
        UNDECIDABLE,
        f"it has that at {where:.2f} switches of computing, and the text does not say how few the figure shows",
    )
    four, twenty, least = (model.overhead_pct("combination", x, "smart") for x in (4, 20, 0.25))
    yield (
        "beside Figure 5",
        "a combination has less than 10 % at 4 switches, 30 % at most below one, and practically none at 20",
        decided(four < 10 and least < 30 and twenty < 2),
        f"with a yield to a thread that can go on {four:.1f}, {least:.1f} (at 0.25) and {twenty:.1f} %",
    )
    other = model.overhead_pct("combination", 4, "naive")
    tree = model.overhead_pct("tree", 4, "naive")
    yield (
        "4.1",
        "a combination has much less overhead than a tree, with the yield of section 3.4",
        decided(other < tree / 2),
        f"{other:.1f} against {tree:.1f} % at 4 switches; it holds with a yield to a thread that can go on",
    )


def _balance() -> Iterator[Row]:
    shares = (0, 0.25, 0.5)
    over = {way: [partitions.uneven_pct(share, way) for share in shares] for way in model.POLICIES}
    text = {way: ", ".join(f"{pct:.1f}" for pct in percents) for way, percents in over.items()}
    yield (
        "4.1",
        "threads that compute equally long are the worst case for a partition",
        decided(all(sorted(percents, reverse=True) == percents for percents in over.values())),
        "with times that vary by 0, 25 and 50 % combination barriers on 8 processors at 10 switches have an "
        f"overhead of {text['smart']} % with a yield to a thread that can go on, and {text['naive']} % with "
        "that of section 3.4",
    )


def _processors() -> Iterator[Row]:
    time = {p: model.per_barrier_ms("tree", "naive", _GAUSS_MS, p) / _GAUSS_MS for p in range(1, 17)}
    steps = [f"{p} to {p - 1}" for p in range(16, 1, -1) if time[p - 1] > 1.05 * time[p]]
    expected = [f"{p} to {p - 1}" for p in (16, 8, 6, 4, 3, 2)]
    yield (
        "4.2",
        "the completion time changes only from 16 to 15, 8 to 7, 6 to 5, 4 to 3, 3 to 2 and 2 to 1",
        decided(steps == expected),
        f"by more than 5 %: {', '.join(steps)}",
    )
    needed = {p: quanta.processors_needed(model.THREADS, p) for p in time}
    apart = max(abs(time[needed[p]] / time[p] - 1) for p in time)
    yield (
        "4.2",
        "P_M processors, the smallest with ceil(M / P_M) = ceil(M / P), take the same time",
        decided(apart < 0.01),
        f"for 16 threads on 1 to 16 processors the times differ by {100 * apart:.2g} % at most",
    )
    yield (
        "4.2",
        "15 processors take about as long as 8",
        decided(abs(time[15] / time[8] - 1) < 0.02),
        f"{time[15]:.3f} and {time[8]:.3f} computing times a barrier",
    )
    lost = {threads: partitions.come_and_go(threads).applications[0] for threads in (1, 2, 4, 8)}
    took = [application.per_barrier_us / 1000 / _GAUSS_MS for application in lost.values()]
    left = ", ".join(f"{application.fewest_processors}" for application in lost.values())
    yield (
        "5",
        "an application that loses a processor may lose several more and take no longer",
        decided(max(took) < 1.01 * min(took)),
        f"16 threads on 16 processors, of which a program that arrives half-way leaves {left}, take "
        f"{min(took):.3f} to {max(took):.3f} computing times a barrier",
    )
    gain = 100 * (1 - time[4] / time[3])
    yield (
        "4.2",
        "a fourth processor for 16 threads on 3 gains 33 %",
        decided(abs(gain - 100 / 3) < 1),
        f"{gain:.1f} %: six threads a processor become four",
    )


def _coscheduling() -> Iterator[Row]:
    def slower_pct(way: str, switches: float) -> float:
        partition, turns = (partitions.two_programs_ms(p, switches, way) for p in ("partition", "coscheduled"))
        return 100 * (partition / turns - 1)

    gauss = _GAUSS_MS * 1000 / model.SWITCH_US
    seldom = [slower_pct(way, x) for way in model.POLICIES for x in (50, gauss)]
    yield (
        "5",
        "programs that are not coscheduled pay no significant penalty unless they meet extremely often",
        decided(max(seldom) < 10),
        "two programs of 16 threads with combination barriers on 16 processors take "
        f"{min(seldom):.1f} to {max(seldom):.1f} % longer in partitions of 8 than in turns of a quantum, "
        "from 50 switches of computing on, whatever a blocked thread yields to",
    )
    naive, smart = (" and ".join(f"{slower_pct(way, x):.1f} % at {x}" for x in (4, 20)) for way in model.POLICIES)
    yield (
        "5",
        "above four switches of computing a program pays no significant penalty for being in a partition",
        UNDECIDABLE,
        f"the same two programs take {smart} switches longer with a yield to a thread that can go on, and "
        f"{naive} with that of section 3.4; Figure 5 needs the first, and the text does not say what is "
        "significant",
    )


def _appendix() -> Iterator[Row]:
    ratios = [Fraction(100 + n, 100) for n in range(1, 100)]
    rows = {q: [t for t, _ in zip(quanta.recurrence(q), range(400), strict=False)] for q in ratios}
    same = all(quanta.solution(q, n) == t for q, row in rows.items() for n, t in enumerate(row))
    yield (
        "appendix",
        "the solution equals the recurrence",
        decided(same),
        f"for all {len(ratios)} Q of 1.01 to 1.99 and n below 400, in exact fractions",
    )
    far = max(
        abs(float(row[-1]) / 399 - float(Fraction(quanta.pattern(q), 2 * quanta.pattern(q) - 1)))
        for q, row in rows.items()
    )
    yield (
        "appendix",
        "t(n) / n tends to R / (2R - 1)",
        decided(far < 0.01),
        f"at n = 399 it is off by {far:.4f} at most",
    )
    start = Fraction(5, 2)
    second = next(t for n, t in enumerate(quanta.recurrence(start)) if n == 1)
    yield (
        "appendix, footnote 9",
        "the recurrence agrees for Q > 2 also, where t(n) = n + 1",
        decided(start == second),
        f"with t(1) = Q as printed, t(1) is {float(start)} at Q = 2.5; it must be min(2, Q) = {float(second)}",
    )
    last = Fraction(2 * quanta.pattern(Fraction(1001, 1000)) - 1, quanta.pattern(Fraction(1001, 1000)))
    yield (
        "appendix",
        "at Q = 1 a barrier takes two quanta",
        decided(abs(float(last) - 2) < 0.01),
        f"(2R - 1) / R is {float(last):.3f} at Q = 1.001",
    )

# SPDX-License-Identifier: Apache-2.0
"""How Seyedroudbari and Kadiyala explain Figures 7 to 9, tested: one thing is changed at a time.

The sense-reversing barrier with its critical section, without, and with delays between polls; the MCS tree
with the children's flags in one line and in lines of their own, with the phase and the counter of Algorithm 2
and without. Each on simulated caches, and as measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from tollbar.papers import one_machine, stored
from tollbar.papers.exhibit import Axes, Exhibit, Point, with_published
from tollbar.papers.one_machine import SENSE
from tollbar.papers.stored import Stored

NAME = one_machine.NAME
_THREADS = (2, 3, 4, 6, 8, 10, 12, 14, 16)
CRITICAL = f"{SENSE}:critical"
FIXED = tuple(f"{SENSE}:{ns}ns" for ns in (100, 400, 1600))
DOUBLING = f"{SENSE}:doubling"
ONE_LINE, OWN_LINES = "mcs_flags:one_line", "mcs_flags:own_lines"
PHASE, PHASE_OWN_LINES = "mcs_phase:one_line", "mcs_phase:own_lines"


def times(barrier: str, other: str, threads: int) -> float:
    """One barrier over another on simulated caches."""
    one, two = (one_machine.simulated_us(name, threads) for name in (barrier, other))
    return one / two


def exhibits(runs: Stored) -> list[Exhibit]:
    return [
        _exhibit(
            runs,
            "Figure 7",
            "Sense-reversing barrier: critical section and delays",
            ("turnstile", SENSE, CRITICAL, *FIXED, DOUBLING),
            ((CRITICAL, SENSE), (FIXED[0], SENSE)),
        ),
        _exhibit(
            runs,
            "Figure 8",
            "MCS tree: where its flags lie, and what Algorithm 2 has besides",
            ("mcs", ONE_LINE, OWN_LINES, PHASE, PHASE_OWN_LINES),
            ((ONE_LINE, OWN_LINES), (PHASE, ONE_LINE)),
        ),
    ]


def _exhibit(
    runs: Stored, number: str, title: str, barriers: Sequence[str], compared: Sequence[tuple[str, str]]
) -> Exhibit:
    points = []
    for barrier in barriers:
        simulated = [Point(barrier, n, model=one_machine.simulated_us(barrier, n)) for n in _THREADS]
        candidate = stored.candidate(runs.threads, barrier, "auto")
        timed = stored.measured(runs.threads, candidate, barrier, None, barrier, "inside_ns")
        points += stored.merged(simulated, timed)
    sentences = [_sentence(points, barrier, other) for barrier, other in compared]
    return Exhibit(
        NAME,
        f"{number} on caches",
        title,
        Axes("threads", "us"),
        with_published(points, NAME, number),
        " ".join(sentences),
        runs.missing("threads"),
    )


def _sentence(points: Sequence[Point], one: str, other: str) -> str:
    simulated = times(one, other, 8)
    text = f"Between 8 threads on simulated caches {one} takes {simulated:.2f} times what {other} takes"
    both = [
        (point.x, point.measured / against.measured)
        for point in points
        for against in points
        if (point.series, against.series) == (one, other) and point.x == against.x
        if point.measured and against.measured
    ]
    if both:
        text += "; here " + ", ".join(f"{ratio:.2f} times with {x:g}" for x, ratio in both)
    return text + "."

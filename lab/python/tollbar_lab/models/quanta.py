# SPDX-License-Identifier: Apache-2.0
"""Times of barriers on too few processors, without simulating them: quanta, and processors to ask for.

The appendix of Markatos et al. 1991: two groups of threads take turns of one quantum; progress and quanta
are measured in computing times between barriers, so `quantum` is Q / T. Fractions are exact; floats are not,
where a quantum is a whole number of barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from math import ceil, floor


def recurrence(quantum: Fraction) -> Iterator[Fraction]:
    """t_n, the barriers passed after quantum n = 0, 1, ...

    The paper starts with t_1 = Q, which holds for 1 < Q < 2 only: later the first group's barrier stops it.
    """
    before, now = Fraction(1), min(Fraction(2), quantum)
    yield before
    while True:
        yield now
        before, now = now, min(Fraction(floor(now) + 1), before + quantum)


def pattern(quantum: Fraction) -> int:
    """R: so many barriers are passed every 2 R - 1 quanta."""
    return ceil(1 / (quantum - 1)) if quantum < 2 else 1


def quanta_for(barriers: int, quantum: Fraction) -> int:
    """The first n with t_n >= barriers. It is an index from 0, so n + 1 quanta have passed."""
    return next(n for n, passed in zip(count(), recurrence(quantum)) if passed >= barriers)


def closed_form(barriers: int, quantum: Fraction) -> Fraction:
    """barriers (2 R - 1) / R quanta. The paper's body prints the computing time T in place of the quantum."""
    return Fraction(barriers * (2 * pattern(quantum) - 1), pattern(quantum))


def processors_needed(threads: int, processors: int) -> int:
    """P_M of section 4.2: the fewest processors with no more threads on the fullest of them.

    Threads never migrate, so the fullest processor decides when all have computed.
    """
    fullest = ceil(threads / processors)
    return ceil(threads / fullest)

# SPDX-License-Identifier: Apache-2.0
"""Which of tollbar's own barriers to use: the fastest safe one, or in a tie the one the model favours.

Two clocks decide together: the latency, last entry to last exit, and the loop period. Either alone
misleads: in a loop the episodes of a tree overlap, and a latency of some ten nanoseconds is lost in the
stamps around it. Safe means the policy `auto`: bare spinning never gives the processor away, so with one
thread too many it is thousands of times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tollbar
from tollbar.data import statistics
from tollbar.data.comparison import Candidate, Comparison, Measured, Situation
from tollbar.data.statistics import Interval, Ratio, Series, Verdict

#: What a group can run, the model's favourite kind first. A thread's signal is a cache line that moves:
#: a turnstile moves one word, a combination one word a processor, and a plan one line a message.
OWN = ("turnstile", "combination", "plan")

#: A tie that only says how little is known may not cost more than this.
_WORTH_A_TIE = 1.1


@dataclass(frozen=True)
class Choice:
    """The candidate to use, and by how much the next best is slower, by the clock that tells them apart."""

    situation: Situation
    usable: int
    pick: Candidate
    verdict: Verdict
    latency: Interval
    runner_up: Candidate | None
    ratio: Ratio | None
    by: str
    tied: Sequence[Candidate]


def rivals(comparison: Comparison) -> list[Candidate]:
    """The candidates that may be chosen."""
    return [
        candidate
        for candidate, measured in comparison.candidates.items()
        if candidate.kind in OWN and candidate.wait == "auto" and measured.latency and measured.period
    ]


def choose(comparison: Comparison) -> Choice | None:
    """The choice for one situation; None where none of tollbar's own was measured."""
    own = rivals(comparison)
    if not own:
        return None
    standings = statistics.judge({candidate: _clocks(comparison.candidates[candidate]) for candidate in own})
    tied = [each.candidate for each in standings if each.verdict is not Verdict.SLOWER]
    eligible = [
        each.candidate
        for each in standings
        if each.candidate in tied and max(found.value for found in each.ratios.values()) <= _WORTH_A_TIE
    ]
    pick = min(eligible, key=lambda candidate: favour(candidate, comparison.situation.ranks))
    others = [each for each in standings if each.candidate in tied and each.candidate != pick] or standings[
        1:
    ]
    next_best = others[0] if others else None
    by = next_best.by if next_best else "latency"
    return Choice(
        comparison.situation,
        comparison.usable,
        pick,
        standings[0].verdict,
        statistics.summary(comparison.candidates[pick].latency),
        next_best.candidate if next_best else None,
        comparison.ratio(next_best.candidate, pick, by) if next_best else None,
        by,
        tied,
    )


def _clocks(measured: Measured) -> dict[str, Series]:
    return {"latency": measured.latency, "period": measured.period}


def favour(candidate: Candidate, ranks: int) -> tuple[int, int, int]:
    """The model's order, best first: by kind, then fewest messages, then the order of the catalogue."""
    kind = OWN.index(candidate.kind)
    if candidate.kind != "plan":
        return kind, 0, 0
    names = [algorithm.name for algorithm in tollbar.catalogue()]
    name = candidate.name.partition(":")[0]
    place = names.index(name) if name in names else len(names)
    price = tollbar.price(tollbar.plan(candidate.name, ranks), tollbar.LogP(L=1, o=1, g=1))
    return kind, price.messages, place

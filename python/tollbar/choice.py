# SPDX-License-Identifier: Apache-2.0
"""Which of tollbar's own barriers to use: the fastest safe one, or in a tie the one the model favours.

Fastest means the shortest latency, last entry to last exit, and no longer loop period than the others: the
two may disagree, because in a loop the episodes of a tree overlap. Safe means the policy `auto`: bare
spinning never gives the processor away, so with one thread too many it is thousands of times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tollbar
from tollbar import statistics
from tollbar.comparison import Candidate, Comparison, Situation
from tollbar.statistics import Interval, Ratio, Standing, Verdict

#: What a group can run, the model's favourite kind first. A thread's signal is a cache line that moves:
#: a turnstile moves one word, a combination one word a processor, and a plan one line a message.
OWN = ("turnstile", "combination", "plan")

#: A tie that only says how little is known may not cost more than this.
_WORTH_A_TIE = 1.1


@dataclass(frozen=True)
class Choice:
    """The candidate to use, and by how much the next best is slower (the ratio of their latencies)."""

    situation: Situation
    usable: int
    pick: Candidate
    verdict: Verdict
    latency: Interval
    runner_up: Candidate | None
    ratio: Ratio | None
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
    standings = statistics.judge({candidate: comparison.candidates[candidate].latency for candidate in own})
    tied, eligible = _tied(comparison, standings)
    pick = min(eligible, key=lambda candidate: favour(candidate, comparison.situation.ranks))
    others = [each for each in tied if each != pick] or [each.candidate for each in standings[1:]]
    runner_up = others[0] if others else None
    return Choice(
        comparison.situation,
        comparison.usable,
        pick,
        Verdict.TIE if len(tied) > 1 else Verdict.BEST,
        statistics.summary(comparison.candidates[pick].latency),
        runner_up,
        comparison.ratio(runner_up, pick, "latency") if runner_up else None,
        tied,
    )


def _tied(comparison: Comparison, standings: Sequence[Standing]) -> tuple[list[Candidate], list[Candidate]]:
    """The fastest with those that cannot be told from it, and with those that the loop period puts before it.

    Also those of them that may be picked: by neither clock more than a little slower than the fastest.
    """
    fastest = standings[0].candidate
    periods = [comparison.ratio(each.candidate, fastest, "period") for each in standings[1:]]
    certain = [p <= 1 - statistics.LEVEL for p in statistics.holm([period.p_value for period in periods])]
    tied, eligible = [fastest], [fastest]
    for standing, period, differs in zip(standings[1:], periods, certain, strict=True):
        faster_in_a_loop = differs and period.value < 1
        slower_in_a_loop = differs and period.value > 1
        if standing.verdict is Verdict.TIE or faster_in_a_loop:
            tied.append(standing.candidate)
            if not slower_in_a_loop and max(standing.ratio.value, period.value) <= _WORTH_A_TIE:
                eligible.append(standing.candidate)
    return tied, eligible


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

# SPDX-License-Identifier: Apache-2.0
"""The choice of one of tollbar's own barriers: the fastest safe one, or in a tie the one the model favours.

Two clocks decide together: the latency, last entry to last exit, and the loop period. Either alone
misleads: in a loop the episodes of a tree overlap, and a latency of some ten nanoseconds is lost in the
stamps around it. Safe means the policy `auto`: bare spinning never gives the processor away, so with one
thread too many it is thousands of times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import tollbar
from tollbar import _native
from tollbar.data import statistics
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.data.statistics import Interval, Ratio, Verdict

#: Barriers that a group can run, the model's favourite kind first. A thread's signal is a cache line that moves:
#: a turnstile moves one word, a combination one word a processor, and a plan one line a message.
OWN = ("turnstile", "combination", "plan")

#: A tie that only says how little is known may not cost more than this.
_WORTH_A_TIE = 1.1


@dataclass(frozen=True)
class Choice:
    """The candidate to use, and by how much the next best is slower, by the clock that tells them apart."""

    situation: Situation
    pick: Candidate
    verdict: str  #: a Verdict, or safe: others are faster alone, and lose beside neighbours
    latency: Interval
    runner_up: Candidate | None
    ratio: Interval | None  #: it holds together with those of all that may be chosen, as the data chose these two
    by: str
    tied: Sequence[Candidate]


#: The clocks by what they are called.
_CLOCKS = {"latency": "latency_ns", "period": "period_ns"}


def rivals(measured: Measurements) -> list[Candidate]:
    """The candidates that may be chosen: threads that are not pinned do not stay at a processor's counter."""
    own = OWN if measured.place.placement == "pinned" else [kind for kind in OWN if kind != "combination"]
    return [
        candidate
        for candidate in measured.candidates
        if candidate.kind in own
        and candidate.wait == "auto"
        and all(measured.median(candidate, m) for m in _CLOCKS.values())
    ]


def untuned(situation: Situation) -> Candidate:
    """The barrier that a group runs there where nothing is stored."""
    pinned = situation.placement == "pinned"
    plan, wait = _native.default_choice(situation.ranks, situation.processors, pinned)
    return Candidate(plan, plan if plan in OWN else "plan", wait)


def choose(measured: Measurements) -> Choice | None:
    """The choice for one situation; None where none of tollbar's own was measured."""
    own = rivals(measured)
    if not own:
        return None

    def ratio(of: Candidate, to: Candidate, clock: str) -> Ratio:
        known = measured.ratio(of, to, _CLOCKS[clock])
        assert known, "rivals take turns in the same processes"
        return known

    standings = statistics.judge(own, list(_CLOCKS), ratio)
    tied = [standing.candidate for standing in standings if standing.verdict is not Verdict.SLOWER]
    eligible = [
        standing.candidate
        for standing in standings
        if standing.candidate in tied and max(known.value for known in standing.ratios.values()) <= _WORTH_A_TIE
    ]
    pick = min(eligible, key=lambda candidate: favour(candidate, measured.place.ranks))
    latency = measured.median(pick, "latency_ns")
    assert latency, "rivals have a median by every clock"
    others = [standing for standing in standings if standing.candidate in tied and standing.candidate != pick]
    next_best = next(iter(others or standings[1:]), None)
    by = next_best.by if next_best else "latency"
    return Choice(
        measured.place,
        pick,
        standings[0].verdict,
        latency,
        next_best.candidate if next_best else None,
        statistics.among(ratio(next_best.candidate, pick, by), len(own), len(_CLOCKS)) if next_best else None,
        by,
        tied,
    )


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

# SPDX-License-Identifier: Apache-2.0
"""The report's section on runs of `bench threads --cpus`: what to use where processors are taken away."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import geometric_mean

from tollbar.data.crowds import Crowds, Scheduler, gather
from tollbar.data.places import Candidate, Situation
from tollbar.data.samples import Samples
from tollbar.data.summary import FASTEST
from tollbar.report.tables import times_text

_SIMPLEST = ("turnstile", "barrier", "combination", "plan")  # of tollbar's own kinds
_NEAR = 1.1
_PEERS = ("std::barrier", "pthread_barrier")


@dataclass(frozen=True)
class Verdict:
    """The barrier to use in one place, of tollbar's own that give way.

    Among candidates within a tenth of the best over all computing times it is the simplest to configure: `auto`
    before other ways of waiting, one word before several.
    """

    place: Situation
    take: Candidate
    mean: float  #: geometric mean over computing times: its period over that of the fastest
    worst: float
    peers: dict[str, float]  #: of each, the greatest ratio to the fastest
    spinning: float | None  #: the least bad of what only spins, at its worst


@dataclass(frozen=True)
class Section:
    """The scheduler that was measured, and what to use in each place."""

    peers = _PEERS

    scheduler: Scheduler
    verdicts: list[Verdict]


def of(run: Samples) -> Section | None:
    """Everything about one run; None where it holds nothing of crowds."""
    crowds = gather(run)
    return Section(crowds.scheduler, verdicts(crowds)) if crowds else None


def verdicts(crowds: Crowds) -> list[Verdict]:
    """One a place that has something of tollbar's own."""
    return [verdict for place in crowds.places if (verdict := _verdict(place, crowds))]


def _verdict(place: Situation, crowds: Crowds) -> Verdict | None:
    ratios: dict[Candidate, dict[float, float]] = {}
    for point in crowds.points:
        if point.place == place and (ratio := point.measured.ratio(point.candidate, FASTEST)):
            ratios.setdefault(point.candidate, {})[point.compute_us] = ratio.value
    times = max(map(len, ratios.values()))
    safe = {
        candidate: geometric_mean(by_time.values())
        for candidate, by_time in ratios.items()
        if candidate.kind in _SIMPLEST and candidate.wait != "spin" and len(by_time) == times
    }
    if not safe:
        return None
    near = [candidate for candidate in safe if safe[candidate] <= _NEAR * min(safe.values())]
    take = min(near, key=lambda candidate: (candidate.wait != "auto", _SIMPLEST.index(candidate.kind), safe[candidate]))
    worst = {candidate: max(by_time.values()) for candidate, by_time in ratios.items()}
    return Verdict(
        place,
        take,
        safe[take],
        worst[take],
        {candidate.name: worst[candidate] for candidate in ratios if candidate.name in _PEERS},
        min((worst[candidate] for candidate in ratios if candidate.wait == "spin"), default=None),
    )


def verdict_text(verdict: Verdict) -> str:
    """The barrier to take, and what the others cost, in a sentence."""
    text = (
        f"{verdict.place.on_processors}: take {verdict.take.label}, in the mean over computing times "
        f"{times_text(verdict.mean)} times the fastest, at most {times_text(verdict.worst)} times"
    )
    others = [f"{name} takes up to {times_text(worst)} times" for name, worst in verdict.peers.items()]
    if verdict.spinning is not None:
        others.append(f"what only spins at least {times_text(verdict.spinning)} times at its worst")
    return f"{text}; {', '.join(others)}" if others else text

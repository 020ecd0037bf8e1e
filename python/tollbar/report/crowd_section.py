# SPDX-License-Identifier: Apache-2.0
"""The report's section on runs of `bench threads --cpus`: what to use where processors are taken away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tollbar.data.places import Candidate, Situation
from tollbar.data.samples import Samples
from tollbar.models import crowd
from tollbar.models.crowd import Crowds, Point
from tollbar.report.tables import times_text

_SIMPLEST = ("turnstile", "barrier", "combination", "plan")  # of tollbar's own kinds
_NEAR = 1.1
_PEERS = ("std::barrier", "pthread_barrier")


@dataclass(frozen=True)
class Verdict:
    """What to use in one place, of tollbar's own that give way.

    Of those within a tenth of the nearest to the fastest over all computing times, the one that needs least
    to be said: `auto` before other ways of waiting, one word before several.
    """

    place: Situation
    take: Candidate
    mean: float  #: geometric mean over computing times: its period over that of the fastest
    worst: float
    peers: dict[str, float]  #: of each, the greatest ratio to the fastest
    spinning: float | None  #: the least bad of what only spins, at its worst


@dataclass(frozen=True)
class Section:
    """What stands in the report."""

    peers = _PEERS
    orders = crowd.ORDERS

    crowds: Crowds
    verdicts: list[Verdict]


def of(run: Samples) -> Section | None:
    """Everything about one run; None where it holds nothing of crowds."""
    crowds = crowd.gather(run)
    return Section(crowds, verdicts(crowds)) if crowds else None


def verdicts(crowds: Crowds) -> list[Verdict]:
    """One a place that has something of tollbar's own."""
    return [found for place in crowds.places if (found := _verdict(place, crowds))]


def _verdict(place: Situation, crowds: Crowds) -> Verdict | None:
    ratios: dict[Candidate, dict[float, float]] = {}
    for compute_us, points in _by_time(place, crowds):
        for standing in crowd.standings(points):
            ratios.setdefault(standing.candidate, {})[compute_us] = standing.ratio.value
    times = max(map(len, ratios.values()))
    safe = {
        each: _mean(found)
        for each, found in ratios.items()
        if each.kind in _SIMPLEST and each.wait != "spin" and len(found) == times
    }
    if not safe:
        return None
    near = [each for each in safe if safe[each] <= _NEAR * min(safe.values())]
    take = min(near, key=lambda each: (each.wait != "auto", _SIMPLEST.index(each.kind), safe[each]))
    worst = {each: max(found.values()) for each, found in ratios.items()}
    return Verdict(
        place,
        take,
        safe[take],
        worst[take],
        {each.name: worst[each] for each in ratios if each.name in _PEERS},
        min((worst[each] for each in ratios if each.wait == "spin"), default=None),
    )


def verdict_text(verdict: Verdict) -> str:
    """What to take, and what the others cost, in a sentence."""
    text = (
        f"{verdict.place.on_processors}: take {verdict.take.label}, in the mean over computing times "
        f"{times_text(verdict.mean)} times the fastest, at most {times_text(verdict.worst)} times"
    )
    others = [f"{name} takes up to {times_text(worst)} times" for name, worst in verdict.peers.items()]
    if verdict.spinning is not None:
        others.append(f"what only spins at least {times_text(verdict.spinning)} times at its worst")
    return f"{text}; {', '.join(others)}" if others else text


def _by_time(place: Situation, crowds: Crowds) -> Iterator[tuple[float, list[Point]]]:
    here = [point for point in crowds.points if point.place == place]
    for compute_us in sorted({point.compute_us for point in here}):
        yield compute_us, [point for point in here if point.compute_us == compute_us]


def _mean(ratios: dict[float, float]) -> float:
    return float(np.exp(np.mean(np.log(list(ratios.values())))))

# SPDX-License-Identifier: Apache-2.0
"""The report's section on runs of `bench threads --cpus`: what to use where processors are taken away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from tollbar.data import statistics
from tollbar.data.crowds import Crowds, Point, Scheduler, gather
from tollbar.data.places import Candidate, Situation
from tollbar.data.samples import Samples
from tollbar.data.statistics import Interval
from tollbar.data.summary import FASTEST
from tollbar.report.tables import interval_text, times_text

_SIMPLEST = ("turnstile", "barrier", "combination", "plan")  # of tollbar's own kinds
_NEAR = 1.1
_PEERS = ("std::barrier", "pthread_barrier")


@dataclass(frozen=True)
class Verdict:
    """The barrier to use in one place, of tollbar's own that give way.

    Among candidates within a tenth of the best in the mean over computing times it is the simplest to configure: `auto`
    before other ways of waiting, one word before several. Ratios are those to the fastest, whichever it is, at the
    computing time where they are greatest.
    """

    place: Situation
    take: Candidate
    worst: Interval
    others: dict[str, Interval]  #: of the peers, and of the simplest one that only spins, by their labels


@dataclass(frozen=True)
class Section:
    """The scheduler that was measured, and what to use in each place."""

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
    points = [point for point in crowds.points if point.place == place]
    ratios: dict[Candidate, list[float]] = {}
    for point in points:
        if ratio := point.measured.ratio(point.candidate, FASTEST):
            ratios.setdefault(point.candidate, []).append(ratio.value)
    times = max(map(len, ratios.values()))
    safe = {
        candidate: geometric_mean(of_times)
        for candidate, of_times in ratios.items()
        if candidate.kind in _SIMPLEST and candidate.wait != "spin" and len(of_times) == times
    }
    if not safe:
        return None
    near = [candidate for candidate in safe if safe[candidate] <= _NEAR * min(safe.values())]
    take = min(near, key=lambda candidate: (candidate.wait != "auto", _SIMPLEST.index(candidate.kind), safe[candidate]))
    spinners = [candidate for candidate in ratios if candidate.wait == "spin" and candidate.kind in _SIMPLEST]
    spinners = sorted(spinners, key=lambda candidate: _SIMPLEST.index(candidate.kind))[:1]
    others = [candidate for candidate in ratios if candidate.name in _PEERS] + spinners
    return Verdict(place, take, _worst(take, points), {other.label: _worst(other, points) for other in others})


def _worst(of: Candidate, points: Sequence[Point]) -> Interval:
    """Its period over that of the fastest, itself among them, where that is greatest."""
    known = [
        ratio
        for point in points
        if point.candidate == of
        for rival in point.measured.candidates
        if (ratio := point.measured.ratio(of, rival))
    ]
    return statistics.greatest(known)


def scheduler_text(scheduler: Scheduler) -> str:
    """The machine's scheduler in a sentence."""
    return (
        f"this machine: a quantum is {scheduler.quantum_us.value / 1e3:.3g} ms, a switch by yielding "
        f"{scheduler.yield_us.value:.3g} us, by waking and sleeping {scheduler.sleep_us.value:.3g} us"
    )


def verdict_text(verdict: Verdict) -> str:
    """The barrier to take, and what the others cost, in a sentence."""
    text = f"{verdict.place.on_processors}: take {verdict.take.label}, at worst {_text(verdict.worst)} the fastest"
    others = [f"{label} {_text(worst)}" for label, worst in verdict.others.items()]
    return f"{text}; others at worst: {', '.join(others)}" if others else text


def _text(ratio: Interval) -> str:
    return f"{times_text(ratio.value)} times ({interval_text(ratio)})"

# SPDX-License-Identifier: Apache-2.0
"""What the report says of runs of `tollbar bench crowd`: figures, where the model holds, what to use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tollbar.data import statistics
from tollbar.data.places import Candidate
from tollbar.data.samples import Samples
from tollbar.models import crowd
from tollbar.models.crowd import AGREE, Crowds, Place, Point
from tollbar.report import candidates, curves, plots
from tollbar.report.curves import Figure
from tollbar.report.mpi_figures import machine_text
from tollbar.report.plots import Line, time_text
from tollbar.report.tables import times_text

#: What a figure shows: the three barriers of the paper as they wait, and what users have.
_SHOWN = (
    ("turnstile", "spin"), ("mcs", "spin"), ("mcs", "yield"), ("mcs", "park"), ("combination", "park"),
    ("combination", "auto"), ("turnstile", "auto"), ("std::barrier", "auto"), ("pthread_barrier", "auto"),
)  # fmt: skip
_LEAST_PCT = 0.1  # what is less is drawn as that: the axis is logarithmic
_SIMPLEST = ("turnstile", "barrier", "combination", "plan")  # of tollbar's own kinds
_NEAR = 1.1
_PEERS = ("std::barrier", "pthread_barrier")


@dataclass(frozen=True)
class Agreement:
    """How far one candidate follows its model in one place."""

    place: Place
    candidate: Candidate
    model: str
    points: int
    agreeing: int
    from_us: float | None  #: of computing: from here on every point agrees
    worst: Point | None  #: the one that parts most
    why: str


@dataclass(frozen=True)
class Verdict:
    """What to use in one place, of tollbar's own that give way.

    Of those within a tenth of the nearest to the fastest over all computing times, the one that needs least
    to be said: `auto` before other ways of waiting, one word before several.
    """

    place: Place
    take: Candidate
    mean: float  #: geometric mean over computing times: its period over that of the fastest
    worst: float
    best_at: tuple[float, ...]  #: computing times at which nothing is known to be faster
    peers: dict[str, float]  #: of each, the greatest ratio to the fastest
    spinning: float | None  #: the least bad of what only spins, at its worst


@dataclass(frozen=True)
class Section:
    """What stands in the report."""

    peers = _PEERS
    orders = crowd.ORDERS

    crowds: Crowds
    summary: list[str]
    figures: list[Figure]
    agreements: list[Agreement]
    verdicts: list[Verdict]


def section(run: Samples) -> Section | None:
    """Everything about one run; None where it holds nothing of crowds."""
    crowds = crowd.gather(run)
    if crowds is None:
        return None
    found = agreements(crowds)
    return Section(
        crowds,
        sentences(crowds, found),
        figures(machine_text(next(iter(run.environments.values()))), crowds),
        found,
        verdicts(crowds),
    )


def agreements(crowds: Crowds) -> list[Agreement]:
    """Each candidate in each place, in order."""
    return [
        _agreement(place, candidate, points, crowds.scheduler)
        for place in crowds.places
        for candidate, points in crowds.curves(place).items()
    ]


def _agreement(
    place: Place, candidate: Candidate, points: Sequence[Point], scheduler: crowd.Scheduler
) -> Agreement:
    from_us = None
    for point in reversed(points):
        if not point.agrees:
            break
        from_us = point.compute_us
    parted = [point for point in points if not point.agrees]
    worst = max(parted, key=lambda point: abs(np.log(point.ratio)), default=None)
    model, why = " ".join(crowd.model_of(candidate)), crowd.why_not(worst, scheduler) if worst else ""
    agreeing = len(points) - len(parted)
    return Agreement(place, candidate, model, len(points), agreeing, from_us, worst, why)


def sentences(crowds: Crowds, found: Sequence[Agreement]) -> list[str]:
    """Where model and machine agree, and where they part most, for each place."""
    said = []
    for place in crowds.places:
        here = [each for each in found if each.place == place]
        points, agreeing = sum(each.points for each in here), sum(each.agreeing for each in here)
        times = sorted({point.compute_us for point in crowds.points if point.place == place})
        starts = [each.from_us for each in here]
        known = [start for start in starts if start is not None]
        text = (
            f"{place.text}: model and machine agree within a factor of {AGREE:g} "
            f"at {agreeing} of {points} points"
        )
        if len(known) == len(starts):
            everywhere = max(known)
            text += ", all of them" if everywhere == times[0] else ""
            text += (
                f", all from {time_text(everywhere * 1e3)} of computing on" if everywhere > times[0] else ""
            )
        if worst := max(
            (each for each in here if each.worst),
            key=lambda each: abs(np.log(each.worst.ratio)),
            default=None,
        ):
            far = worst.worst
            text += (
                f"; {worst.candidate.label} parts most, {times_text(far.ratio)} times the model "
                f"at {time_text(far.compute_us * 1e3)}: {worst.why}"
            )
        said.append(text)
    return said


def verdicts(crowds: Crowds) -> list[Verdict]:
    """One a place that has something of tollbar's own."""
    return [found for place in crowds.places if (found := _verdict(place, crowds))]


def _verdict(place: Place, crowds: Crowds) -> Verdict | None:
    ratios: dict[Candidate, dict[float, float]] = {}
    best: dict[Candidate, list[float]] = {}
    for compute_us, points in _by_time(place, crowds):
        for standing in crowd.standings(points):
            ratios.setdefault(standing.candidate, {})[compute_us] = standing.ratio.value
            if standing.verdict is not statistics.Verdict.SLOWER:
                best.setdefault(standing.candidate, []).append(compute_us)
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
        place, take, safe[take], worst[take], tuple(best.get(take, ())),
        {each.name: worst[each] for each in ratios if each.name in _PEERS},
        min((worst[each] for each in ratios if each.wait == "spin"), default=None),
    )  # fmt: skip


def verdict_text(verdict: Verdict) -> str:
    """What to take, and what the others cost, in a sentence."""
    text = (
        f"{verdict.place.text}: take {verdict.take.label}, in the mean over computing times "
        f"{times_text(verdict.mean)} times the fastest, at most {times_text(verdict.worst)} times"
    )
    others = [f"{name} takes up to {times_text(worst)} times" for name, worst in verdict.peers.items()]
    if verdict.spinning is not None:
        others.append(f"what only spins at least {times_text(verdict.spinning)} times at its worst")
    return f"{text}; {', '.join(others)}" if others else text


def _by_time(place: Place, crowds: Crowds) -> Iterator[tuple[float, list[Point]]]:
    here = [point for point in crowds.points if point.place == place]
    for compute_us in sorted({point.compute_us for point in here}):
        yield compute_us, [point for point in here if point.compute_us == compute_us]


def _mean(ratios: dict[float, float]) -> float:
    return float(np.exp(np.mean(np.log(list(ratios.values())))))


def figures(machine: str, crowds: Crowds) -> list[Figure]:
    """For each place the overhead over the computing time in switches, measured and simulated."""
    caption = (
        "what an episode takes beyond the computing; measured: solid, the band holds all launches; simulated "
        f"with this machine's quantum and switches: dotted; less than {_LEAST_PCT:g} % is drawn as that"
    )
    made = []
    for place in crowds.places:
        lines = [line for each in _lines(place, crowds) for line in each]
        name = f"crowd-{place.ranks}-{place.processors}-{round(100 * place.variation)}"
        if lines and len(lines[0].x) > 1:
            text = f"{place.text}: {caption}. {machine}."
            x = "computing between barriers / switch"
            scales = {"xscale": "log10", "yscale": "log", "spread": "all launches"}
            made += curves.drawn(name, text, lines, plots.over_plain, x, "overhead, %", **scales)
    return made


def _lines(place: Place, crowds: Crowds) -> Iterator[tuple[Line, Line]]:
    measured = {(each.name, each.wait): points for each, points in crowds.curves(place).items()}
    shown = [measured[key] for key in _SHOWN if key in measured]
    colours = candidates.colours(points[0].candidate.label for points in shown)
    switch_us = crowds.scheduler.yield_us.value
    for points in shown:
        label = points[0].candidate.label
        x = [point.compute_us / switch_us for point in points]
        low, high = zip(*map(_spread, points), strict=True)
        middle = [max(point.overhead_pct, _LEAST_PCT) for point in points]
        model = [max(point.simulated_overhead_pct, _LEAST_PCT) for point in points]
        yield (
            Line(label, x, middle, low, high, colours[label]),
            Line("_", x, model, colour=colours[label], predicted=True),
        )


def _spread(point: Point) -> tuple[float, float]:
    ends = min(point.launches_us), max(point.launches_us)
    low, high = (max(100 * (end / point.alone_us - 1), _LEAST_PCT) for end in ends)
    return low, high

# SPDX-License-Identifier: Apache-2.0
"""The curves of the report: a candidate over numbers of participants or anything else; floors, models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tollbar.backports import zip_equal
from tollbar.data import choice, places
from tollbar.data.places import Candidate, Measurements, Situation
from tollbar.report import candidates
from tollbar.report.figures import Axis, Curve, Figure

#: Eight of ten rounds lie in the band.
BAND = (0.1, 0.9)
_MOST_BANDS = 6  # more would cover each other
_SHARES = np.linspace(0, 1, 101)  # that draw any distribution

#: The x axis, a number of participants -> what was measured there.
Along = Mapping[int, Measurements]


def line(along: Along, candidate: Candidate | str, metric: str | None = None) -> Curve | None:
    """The medians of a candidate, by default its time, with a band; None where there are none."""
    points = []
    for x, measured in sorted(along.items()):
        what = metric or measured.time(candidate)
        if median := measured.median(candidate, what):
            points.append((x, median.value, *measured.quantiles(candidate, what, BAND)))
    if not points:
        return None
    label = candidate.label if isinstance(candidate, Candidate) else candidate
    xs, medians, lows, highs = (list(column) for column in zip_equal(*points))
    return Curve(label, xs, medians, lows, highs)


def several(along: Along, some: Sequence[Candidate | str], metric: str | None = None, least: int = 1) -> list[Curve]:
    """A curve for each candidate with so many points, without bands where there are too many of them."""
    lines = [drawn for drawn in (line(along, one, metric) for one in some) if drawn and len(drawn.x) >= least]
    return lines if len(lines) <= _MOST_BANDS else [replace(drawn, low=None, high=None) for drawn in lines]


def floor(along: Along, label: str = "physical floor", crowded_only: bool = False) -> list[Curve]:
    """One cache-line transfer, or B(N) where threads share processors."""
    points = {
        x: measured.floor.value
        for x, measured in sorted(along.items())
        if measured.floor and (measured.place.crowded or not crowded_only)
    }
    return [Curve(label, list(points), list(points.values()), kind="bound")] if points else []


def of_threads(situations: Mapping[Situation, Measurements]) -> dict[str, list[Figure]]:
    """The figures of threads, by the part of the report that shows them; without curves where nothing is known."""
    met = places.names(situations.values())

    def find(name: str, wait: str | None = "auto") -> list[Candidate]:
        return [candidate for candidate in met if candidate.name == name and wait in (None, candidate.wait)][:1]

    own = sorted(
        (candidate for candidate in met if candidate.kind in choice.OWN and candidate.wait == "auto"),
        key=lambda candidate: choice.OWN.index(candidate.kind),
    )
    users = [candidate for name in ("tollbar::barrier", *candidates.PEERS) for candidate in find(name, None)]
    near = [*find("turnstile"), *find("combination"), *find("mcs"), *users]
    waits = [candidate for wait in ("auto", "yield", "park") for candidate in find("turnstile", wait)]
    period, latency, skew = (Axis(label, "log", "ns") for label in ("loop period", "latency", "exit skew"))
    shown: dict[str, list[Figure]] = {"times": [], "floor": [], "crowded": [], "uneven": uneven(situations)}
    for placement in ("pinned", "free"):
        along = {place.ranks: measured for place, measured in situations.items() if place.placement == placement}
        crowded = {ranks: measured for ranks, measured in along.items() if measured.place.crowded}
        if busy := several(crowded, [*waits, *find("combination"), *users], "period_ns"):
            busy += floor(along, "bound B(N)", crowded_only=True)
        by_floor = several(along, near, "over_floor")
        for part, name, caption, lines, y in (
            ("times", "own", "All of tollbar's barriers, {}: latency", several(along, own, "latency_ns"), latency),
            ("times", "users", "What users have today, {}: loop period", several(along, users, "period_ns"), period),
            ("times", "skew", "From the first exit to the last, {}", several(along, near, "skew_ns"), skew),
            ("floor", "floor", "Loop period over the floor, {}", by_floor, Axis("times the floor", "log")),
            ("crowded", "crowded", "Loop period and the bound B(N), {}", busy, period),
        ):
            below = floor(along) if name in ("own", "users") else []
            figure = Figure(f"{name}-{placement}", caption.format(placement), [*lines, *below], Axis("threads"), y)
            shown[part].append(figure)
    return shown


def uneven(situations: Mapping[Situation, Measurements]) -> list[Figure]:
    """Distributions of uneven episodes: the smallest situation with and without processors to spare."""
    shown: dict[tuple[str, bool], Figure] = {}
    for place, measured in situations.items():
        key = place.placement, place.crowded
        if key not in shown and (lines := modes(measured)):
            name, caption = f"modes-{place.placement}-{place.ranks}", f"{place.ranks} threads, {place.placement}"
            shown[key] = Figure(
                name, caption, lines, Axis("latency", "log", "ns"), Axis("episodes", "linear", "share"), spread=""
            )
    return list(shown.values())


def modes(measured: Measurements) -> list[Curve]:
    """The latencies of the candidates whose episodes take very different times, the most uneven ones first.

    A median says little about these; a factor of 3 between the 10th and the 90th percentile counts as uneven.
    """
    uneven = []
    for candidate in measured.candidates:
        values = measured.latencies(candidate)
        if len(values) >= 20:
            low, high = np.quantile(values, BAND)
            if low > 0 and high / low > 3:
                uneven.append((high / low, candidate.label, np.quantile(values, _SHARES)))
    uneven.sort(key=lambda spread: -spread[0])
    return [Curve(label, quantiles.tolist(), _SHARES.tolist(), kind="steps") for _, label, quantiles in uneven[:6]]

# SPDX-License-Identifier: Apache-2.0
"""Measurements of Markatos et al. 1991 repeated on this machine, beside the model with their times."""

from __future__ import annotations

from collections.abc import Sequence

from tollbar_lab.models import crowd
from tollbar_lab.papers.exhibit import Point
from tollbar_lab.papers.stored import Stored

#: The barriers that are measured under these names.
_SHAPES = {"centralized": ("turnstile", "central"), "tree": ("mcs",), "combination": ("combination",)}


def _crowded(runs: Stored, shapes: Sequence[str], waits: Sequence[str]) -> list[crowd.Point]:
    """Measured with equal times, of barriers of these shapes."""
    names = [name for shape in shapes for name in _SHAPES[shape]]
    return [
        point
        for point in (runs.crowds.points if runs.crowds else ())
        if point.candidate.name in names and point.candidate.wait in waits and not point.place.variation
    ]


def times(runs: Stored, shapes: Sequence[str], waits: Sequence[str]) -> list[Point]:
    """Times on this machine's processors; the prediction is simulated with this machine's times."""
    return [
        Point(
            f"{point.candidate.label}, {point.threads}",
            point.compute_us / 1000,
            measured=point.period.value / 1000,
            low=point.period.low and point.period.low / 1000,
            high=point.period.high and point.period.high / 1000,
            predicted=point.simulated.period_us / 1000,
        )
        for point in _crowded(runs, shapes, waits)
    ]


def overhead(runs: Stored, shape: str) -> list[Point]:
    """Computing in context switches of this machine."""
    return [
        Point(
            f"{point.candidate.label}, {point.threads}",
            round(point.compute_us / crowd.switch_us(runs.crowds.scheduler, crowd.model_of(point.candidate)), 3),
            measured=point.overhead_pct,
            predicted=point.simulated_overhead_pct,
        )
        for point in _crowded(runs, (shape,), ("park", "auto"))
        if runs.crowds
    ]


def processors(runs: Stored) -> list[Point]:
    """The longest computing time, on each number of processors that was measured."""
    longest = max((point.compute_us for point in _crowded(runs, tuple(_SHAPES), ("park",))), default=0.0)
    return [
        Point(
            f"{point.candidate.label}, {point.place.ranks} threads",
            point.place.processors,
            measured=point.period.value / point.compute_us,
            predicted=point.simulated.period_us / point.compute_us,
        )
        for point in _crowded(runs, ("centralized", "tree"), ("park",))
        if point.compute_us == longest
    ]

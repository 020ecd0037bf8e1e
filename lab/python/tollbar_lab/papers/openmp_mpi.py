# SPDX-License-Identifier: Apache-2.0
"""Seyedroudbari and Kadiyala 2020: barriers between threads, between processes, and both combined.

The paper prints two or three numbers of each curve. Its model column is the LogP price of the plan with
L = o = g through the first of them; one_machine.py has the same costs for both curves of a figure. The curve
measured here has a model of its own, fitted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import tollbar

from tollbar_lab.papers import beyond, combined, one_machine, stored
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, drawing, printed, with_published
from tollbar_lab.papers.lacking import Lack
from tollbar_lab.papers.published import values_of
from tollbar_lab.papers.stored import Stored

NAME = "openmp-mpi"
_THREADS = tuple(range(2, 17))
_NODES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
#: The plan that each barrier between threads is priced as.
_PRICED_AS = {"sense_reversing": "central", "turnstile": "central", "mcs": "mcs"}

_FEW = 8  #: threads, up to which the paper draws the figures of one barrier once more
_WIDE = ("Figure 8", "Figure 9")  #: a spike of these would leave nothing else to see

#: The paper's, and tollbar's in its place.
_COUNTERS = ("sense_reversing", "turnstile")
#: "Mean per thread": the time that all spend in their calls.
_COUNTED = "inside_ns"


def exhibits(runs: Stored) -> list[Exhibit]:
    return [
        drawing(
            NAME,
            "Figure 1",
            "senseBarrier, whose flag is inverted by the last thread",
            "turnstile",
            4,
            "who comes last releases the others: one counter, one flag",
        ),
        drawing(
            NAME,
            "Figure 2",
            "OpenMP MCS barrier 4-ary arrival tree",
            "mcs",
            8,
            "up to four children a thread tell it",
            "arrival",
        ),
        drawing(
            NAME,
            "Figure 3",
            "OpenMP MCS barrier binary wakeup tree",
            "mcs",
            8,
            "a thread tells up to two children",
            "wake-up",
        ),
        drawing(
            NAME,
            "Figure 4",
            "MPI MCS barrier 4-ary arrival tree",
            "mcs",
            12,
            "the same tree between processes",
            "arrival",
        ),
        drawing(
            NAME,
            "Figure 5",
            "MPI MCS barrier binary wakeup tree",
            "mcs",
            12,
            "the same tree between processes",
            "wake-up",
        ),
        drawing(
            NAME,
            "Figure 6",
            "Dissemination barrier, its rounds of message passing",
            "dissemination",
            8,
            "in round k to rank x + 2^k",
        ),
        *_both_ranges(
            _threads(runs, "Figure 7", "Average barrier time for OMP sense-reverse barrier", _COUNTERS),
            beyond.about_spikes(),
        ),
        *_both_ranges(
            _threads(runs, "Figure 8", "Average barrier time for OMP MCS-tree barrier", ("mcs",)), beyond.about_growth()
        ),
        _threads(runs, "Figure 9", "Comparison of omp_barriers", (*_COUNTERS, "mcs")),
        _processes(runs, "Figure 10", "Average barrier time for MPI MCS-tree barrier", ("mcs",)),
        _processes(runs, "Figure 11", "Average barrier time for MPI dissemination barrier", ("dissemination",)),
        _processes(runs, "Figure 12", "Comparison of mpi_barriers", ("mcs", "dissemination")),
        *combined.exhibits(runs),
        *one_machine.exhibits(),
        *beyond.exhibits(runs),
    ]


def _both_ranges(exhibit: Exhibit, judged: str) -> list[Exhibit]:
    """The figure with a judgement of its text, and once more up to 8 threads, as the paper's part (b)."""
    few = [point for point in exhibit.points if float(point.x) <= _FEW]
    magnified = replace(exhibit, number=f"{exhibit.number}b", title=f"{exhibit.title}, up to {_FEW}", points=few)
    axes = replace(exhibit.axes, log_y=False)
    return [replace(exhibit, sentence=f"{exhibit.sentence} {judged}"), replace(magnified, axes=axes)]


def _model(number: str, series: str, plan: str, sizes: Sequence[int]) -> list[Point]:
    """Prices with L = o = g, so that the first size costs what the paper prints for it."""
    first = sizes[0]
    unit = tollbar.price(tollbar.plan(plan, first), tollbar.LogP(1, 1, 1)).last_us
    third = printed(NAME, number, series, first).value / unit
    logp = tollbar.LogP(third, third, third)
    return [Point(series, size, model=tollbar.price(tollbar.plan(plan, size), logp).last_us) for size in sizes]


def _threads(runs: Stored, number: str, title: str, barriers: Sequence[str]) -> Exhibit:
    by_ranks, points = runs.threads, []
    model = stored.model_of(by_ranks)
    by_name: dict[str, object] = {"dissemination": model}
    ranks: list[Point] = []
    printed_series = {value.series for value in values_of(NAME, number)}
    for barrier in barriers:
        plan = _PRICED_AS[barrier]
        candidate = by_name[barrier] = stored.candidate(by_ranks, barrier, "auto")
        points += stored.merged(
            _model(number, barrier, plan, _THREADS) if barrier in printed_series else [],
            stored.measured(by_ranks, candidate, barrier, model, plan, _COUNTED),
        )
        ranks += stored.of_each_rank(by_ranks, candidate, barrier)
    return _exhibit(number, title, "threads", points, barriers, runs.missing("threads", by_name), ranks)


def _processes(runs: Stored, number: str, title: str, plans: Sequence[str]) -> Exhibit:
    where, by_ranks = runs.mpi
    model, points = stored.model_of(by_ranks), []
    by_name: dict[str, object] = {stored.named("dissemination"): model}
    ranks: list[Point] = []
    for plan in plans:
        candidate = by_name[stored.named(plan)] = stored.by_messages(by_ranks, plan)
        points += stored.merged(
            _model(number, plan, plan, _NODES), stored.measured(by_ranks, candidate, plan, model, plan, _COUNTED)
        )
        ranks += stored.of_each_rank(by_ranks, candidate, plan)
    title = stored.titled(title, where, points)
    return _exhibit(number, title, "nodes", points, plans, runs.missing("mpi", by_name), ranks)


def _exhibit(
    number: str,
    title: str,
    x: str,
    points: list[Point],
    plans: Sequence[str],
    missing: Lack | None,
    ranks: Sequence[Point],
) -> Exhibit:
    """`ranks` have the mean time of each rank, which stands in the table alone."""
    points = with_published(points, NAME, number)
    printed_series = {point.series for point in points if point.published is not None}
    sentences = [_sentence(points, plan, x) for plan in plans if plan in printed_series]
    return Exhibit(
        NAME,
        number,
        title,
        Axes(x, "barrier, us", log_x=False, log_y=number in _WIDE),
        [*points, *ranks],
        " ".join(sentences),
        missing,
        aside=tuple(dict.fromkeys(point.series for point in ranks)),
    )


def _sentence(points: Sequence[Point], plan: str, x: str) -> str:
    known = [point for point in points if point.series == plan and point.published is not None]
    first, last = known[0], known[-1] if known[-1].x != 11 else known[-2]
    grown = (last.published or 0) / (first.published or 1)
    text = f"From {first.x:g} to {last.x:g} {x} the paper's {plan} grows {grown:.3g} times"
    if first.model and last.model:
        text += f", its price {last.model / first.model:.3g} times"
    timed = [point for point in points if point.series == plan and point.measured]
    if len(timed) > 1:
        few, many = timed[0], timed[-1]
        grown = (many.measured or 0) / (few.measured or 1)
        text += f"; here it grows {grown:.3g} times from {few.x:g} to {many.x:g}"
    return text + "."

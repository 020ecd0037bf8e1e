# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 10 of the NIC paper between hosts and cards of this machine.

HB is MPI_Barrier by the hosts' messages, NB the same call on their cards, as in the paper; the MPI's own
barrier and the GM level, which has no MPI, stand beside them. The prediction is the timing model, fitted at
each level to what was measured of barriers back to back (nic_measured.py).
"""

from __future__ import annotations

from collections.abc import Mapping

from tollbar.backports import zip_equal
from tollbar.campaigns.work import FINE
from tollbar.data.statistics import Ratio

import tollbar_lab
from tollbar_lab.models.workloads import Run, Workloads
from tollbar_lab.papers import nic_measured
from tollbar_lab.papers.exhibit import Point, X, measured_point
from tollbar_lab.papers.nic_measured import CARD, GM_CARD, LEVELS, WAYS
from tollbar_lab.papers.stored import Stored

#: HB over NB, by level.
_OVER = {"HB over NB": LEVELS[0], "HB over NB, GM level": LEVELS[1]}


def latencies(runs: Stored, powers: bool) -> list[Point]:
    """Barriers back to back."""
    return [
        measured_point(way, number, taken, runs.hosts.modelled_us(way, number))
        for way in WAYS
        for number, taken in runs.hosts.periods(way).items()
        if not powers or number & (number - 1) == 0
    ]


def levels(runs: Stored) -> list[Point]:
    """Barriers on the card, called as a library and by MPI_Barrier."""
    return [
        measured_point(f"{level} NB", number, taken, runs.hosts.modelled_us(way, number))
        for level, way in (("GM", GM_CARD), ("MPI", CARD))
        for number, taken in runs.hosts.periods(way).items()
    ]


def factors(runs: Stored, powers: bool) -> list[Point]:
    """HB over NB."""
    return [
        _factor(text, number, ratio, _ratio(runs, number, "0", level))
        for text, level in _OVER.items()
        for number, ratio in runs.hosts.factor(level).items()
        if not powers or number & (number - 1) == 0
    ]


def largest_below_mpi(runs: Stored) -> float | None:
    """The largest factor at the GM level."""
    return max((ratio.value for ratio in runs.hosts.factor(LEVELS[1]).values()), default=None)


def fine(runs: Stored) -> list[Point]:
    """Loops of computing that does not vary."""
    return _runs(runs, 8, {name: float(name) for name in FINE if float(name)})


def efficiency(runs: Stored, wanted: float) -> list[Point]:
    """The loop, and the computing in it, of that efficiency."""
    points = []
    for number, by_name in nic_measured.of_work(runs.work).items():
        for way in WAYS:
            needed = nic_measured.needed(by_name, way, wanted)
            if needed is None:
                continue
            barrier_us = runs.hosts.modelled_us(way, number)
            loop_us, compute_us = (
                (tollbar_lab.nic_loop_us(barrier_us, wanted), tollbar_lab.nic_compute_us(barrier_us, wanted))
                if barrier_us is not None
                else (None, None)
            )
            points.append(Point(way, number, measured=needed.loop_us, predicted=loop_us))
            text = f"{way} (C by the text)"
            points.append(Point(text, number, measured=needed.compute_us, predicted=compute_us))
    return points


def varying(runs: Stored, share: float) -> list[Point]:
    names = [name for name in _names(runs) if name.endswith(f"~{share:g}") and _us(name) is not None]
    return _runs(runs, 16, {name: _us(name) for name in names})


def difference(runs: Stored) -> list[Point]:
    """HB less NB."""
    (number, by_name), points = runs.work_near(16), []
    for level, text in zip_equal(LEVELS, ("", ", GM level")):
        for name in by_name:
            host, card = (nic_measured.run_of(by_name, name, way) for way in level)
            us = _us(name)
            if not host or not card or us is None or name in FINE:
                continue
            host_us, card_us = (runs.hosts.modelled_us(way, number, name) for way in level)
            less = None if host_us is None or card_us is None else host_us - card_us
            points.append(
                Point(
                    f"{float(name.partition('~')[2] or 0):.0%}{text}, {number} hosts",
                    us,
                    measured=(host.run.value - card.run.value) / 1e3,
                    predicted=less,
                )
            )
    return points


def applications(runs: Stored) -> list[Point]:
    return _runs(runs, 8, {name: name for name in _names(runs) if _us(name) is None})


def gains(runs: Stored) -> list[Point]:
    """HB over NB, of the applications."""
    number, by_name = runs.work_near(8)
    return [
        _factor(f"{text}, {number} hosts", name, gain, _ratio(runs, number, name, level))
        for text, level in _OVER.items()
        for name in by_name
        if _us(name) is None and (gain := nic_measured.gain(by_name, name, level))
    ]


def shares(runs: Stored) -> list[Point]:
    """The share of an application's run that is computing."""
    number, by_name = runs.work_near(8)
    points = []
    for way, name, run in _measured(by_name):
        if _us(name) is None:
            predicted_us = runs.hosts.modelled_us(way, number, name)
            share = None if predicted_us is None else run.computing_ns / 1e3 / predicted_us
            points.append(Point(f"{way}, {number} hosts", name, measured=run.efficiency, predicted=share))
    return points


def _names(runs: Stored) -> list[str]:
    return list(dict.fromkeys(name for names in nic_measured.of_work(runs.work).values() for name in names))


def _us(name: str) -> float | None:
    """The computing of a loop; None for an application."""
    text = name.partition("~")[0]
    return None if text.endswith("us") else float(text)


def _measured(by_name: Workloads) -> list[tuple[str, str, Run]]:
    return [(way, name, run) for way in WAYS for name in by_name if (run := nic_measured.run_of(by_name, name, way))]


def _runs(runs: Stored, wanted: int, places: Mapping[str, X | None]) -> list[Point]:
    """These workloads, each at its place, between the paper's number of hosts or the nearest to it."""
    number, by_name = runs.work_near(wanted)
    return [
        measured_point(f"{way}, {number} hosts", place, run.run, runs.hosts.modelled_us(way, number, name))
        for way, name, run in _measured(by_name)
        if (place := places.get(name)) is not None
    ]


def _factor(series: str, x: X, taken: Ratio, predicted_us: float | None) -> Point:
    return Point(series, x, measured=taken.value, low=taken.low, high=taken.high, predicted=predicted_us)


def _ratio(runs: Stored, number: int, workload: str, level: tuple[str, str]) -> float | None:
    host, card = (runs.hosts.modelled_us(way, number, workload) for way in level)
    return host / card if host and card else None

# SPDX-License-Identifier: Apache-2.0
"""Figures 3 to 10 of the NIC paper between hosts and cards of this machine.

HB is MPI_Barrier by the hosts' messages, NB the same call on their cards, as in the paper; the MPI's own
barrier and the GM level, which has no MPI, stand beside them. The prediction is the timing model, fitted at
each level to what was measured of barriers back to back (nic_measured.py).
"""

from __future__ import annotations

from collections.abc import Mapping

import tollbar
from tollbar.campaigns.work import FINE
from tollbar.data.statistics import Ratio
from tollbar.data.workloads import Run, Workloads
from tollbar.papers.exhibit import Point, X, measured_point
from tollbar.papers.stored import Stored
from tollbar.report import nic_measured
from tollbar.report.nic_measured import CARD, GM_CARD, GM_HOST, HOST, LEVELS, OWN

_WAYS = (HOST, CARD, OWN, GM_HOST, GM_CARD)
#: HB over NB, by level.
_OVER = {"HB over NB": LEVELS[0], "HB over NB, GM level": LEVELS[1]}


def latencies(here: Stored, powers: bool) -> list[Point]:
    """Barriers back to back."""
    return [
        measured_point(way, number, taken, _foretold(here, way, number, "0"))
        for way in _WAYS
        for number, taken in here.hosts.summary(way).items()
        if not powers or number & (number - 1) == 0
    ]


def levels(here: Stored) -> list[Point]:
    """Barriers on the card, called as a library and by MPI_Barrier."""
    return [
        measured_point(f"{level} NB", number, taken, _foretold(here, way, number, "0"))
        for level, way in (("GM", GM_CARD), ("MPI", CARD))
        for number, taken in here.hosts.summary(way).items()
    ]


def factors(here: Stored, powers: bool) -> list[Point]:
    """HB over NB."""
    return [
        _factor(text, number, each, _ratio(here, number, "0", level))
        for text, level in _OVER.items()
        for number, each in here.hosts.factor(level[1]).items()
        if not powers or number & (number - 1) == 0
    ]


def largest_below_mpi(here: Stored) -> float | None:
    """Of the factors at the GM level."""
    return max((each.value for each in here.hosts.factor(GM_CARD).values()), default=None)


def fine(here: Stored) -> list[Point]:
    """Loops of computing that does not vary."""
    return _runs(here, 8, {name: float(name) for name in FINE if float(name)})


def efficiency(here: Stored, wanted: float) -> list[Point]:
    """The loop, and the computing in it, of that efficiency."""
    points = []
    for number, found in nic_measured.of_work(here.work).items():
        for way in _WAYS:
            needed = nic_measured.needed(found, way, wanted)
            if needed is None:
                continue
            barrier_us = here.hosts.modelled_us(way, number)
            loop_us, compute_us = (
                (tollbar.nic_loop_us(barrier_us, wanted), tollbar.nic_compute_us(barrier_us, wanted))
                if barrier_us is not None
                else (None, None)
            )
            points.append(Point(way, number, measured=needed.loop_us, predicted=loop_us))
            text = f"{way} (C by the text)"
            points.append(Point(text, number, measured=needed.compute_us, predicted=compute_us))
    return points


def varying(here: Stored, share: float) -> list[Point]:
    names = [name for name in _names(here) if name.endswith(f"~{share:g}") and _us(name) is not None]
    return _runs(here, 16, {name: _us(name) for name in names})


def difference(here: Stored) -> list[Point]:
    """HB less NB."""
    (number, found), points = here.work_near(16), []
    for level, text in zip(LEVELS, ("", ", GM level"), strict=True):
        for name in found:
            host, card = (nic_measured.run_of(found, name, way) for way in level)
            us = _us(name)
            if not host or not card or us is None or name in FINE:
                continue
            foretold = [_foretold(here, way, number, name) for way in level]
            less = None if None in foretold else foretold[0] - foretold[1]
            points.append(
                Point(f"{float(name.partition('~')[2] or 0):.0%}{text}, {number} hosts", us,
                      measured=(host.run.value - card.run.value) / 1e3, predicted=less)
            )  # fmt: skip
    return points


def applications(here: Stored) -> list[Point]:
    return _runs(here, 8, {name: name for name in _names(here) if _us(name) is None})


def gains(here: Stored) -> list[Point]:
    """HB over NB, of the applications."""
    number, found = here.work_near(8)
    return [
        _factor(f"{text}, {number} hosts", name, gain, _ratio(here, number, name, level))
        for text, level in _OVER.items()
        for name in found
        if _us(name) is None and (gain := nic_measured.gain(found, name, level))
    ]


def gains_over(here: Stored, name: str) -> list[Point]:
    """HB over NB of one application, by the number of hosts."""
    return [
        _factor(text, number, gain, _ratio(here, number, name, level))
        for text, level in _OVER.items()
        for number, found in nic_measured.of_work(here.work).items()
        if (gain := nic_measured.gain(found, name, level))
    ]


def shares(here: Stored) -> list[Point]:
    """The share of an application's run that is computing."""
    number, found = here.work_near(8)
    points = []
    for way, name, run in _measured(found):
        if _us(name) is None:
            foretold = _foretold(here, way, number, name)
            share = None if foretold is None else run.computing_ns / 1e3 / foretold
            points.append(Point(f"{way}, {number} hosts", name, measured=run.efficiency, predicted=share))
    return points


def _names(here: Stored) -> list[str]:
    return list(dict.fromkeys(name for found in nic_measured.of_work(here.work).values() for name in found))


def _us(name: str) -> float | None:
    """The computing of a loop; None for an application."""
    text = name.partition("~")[0]
    return None if text.endswith("us") else float(text)


def _measured(found: Workloads) -> list[tuple[str, str, Run]]:
    return [
        (way, name, run) for way in _WAYS for name in found if (run := nic_measured.run_of(found, name, way))
    ]


def _runs(here: Stored, wanted: int, places: Mapping[str, X | None]) -> list[Point]:
    """These workloads, each at its place, between the paper's number of hosts or the nearest to it."""
    number, found = here.work_near(wanted)
    return [
        measured_point(f"{way}, {number} hosts", place, run.run, _foretold(here, way, number, name))
        for way, name, run in _measured(found)
        if (place := places.get(name)) is not None
    ]


def _foretold(here: Stored, way: str, number: int, workload: str) -> float | None:
    return here.hosts.modelled_run_us(way, number, workload)


def _factor(series: str, x: X, taken: Ratio, foretold: float | None) -> Point:
    return Point(series, x, measured=taken.value, low=taken.low, high=taken.high, predicted=foretold)


def _ratio(here: Stored, number: int, workload: str, level: tuple[str, str]) -> float | None:
    host, card = (_foretold(here, way, number, workload) for way in level)
    return host / card if host and card else None

# SPDX-License-Identifier: Apache-2.0
"""The workloads of the NIC paper over what is no hosts: every barrier measured takes the place of HB and NB.

The prediction is the paper's model for them: the longest computing of each phase, and the barrier that was
measured with nothing to compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tollbar
from tollbar.data import workloads
from tollbar.data.places import Candidate
from tollbar.data.workloads import Place, Run, Workloads
from tollbar.papers.exhibit import Point, measured_point
from tollbar.papers.stored import Stored

_OURS, _THEIRS = ("tollbar::barrier", "dissemination"), ("pthread_barrier", "MPI_Barrier", "std::barrier")


def fine(here: Stored) -> list[Point]:
    """Loops of computing that does not vary."""
    return [
        _point(where, float(name), each, alone)
        for where, name, each, alone in _all(here)
        if _is_loop(name) and "~" not in name and 0 < float(name) < 200
    ]


def efficiency(here: Stored, wanted: float) -> list[Point]:
    """The loop at which so much is computing: between the two measured loops around it."""
    points = []
    for place, found in _places(here):
        for candidate in _candidates(found):
            loops = workloads.loops_us(found, candidate)
            if needed := workloads.needed(loops, wanted):
                foretold = tollbar.nic_loop_us(loops[0.0], wanted) if 0.0 in loops else None
                series = _series(place, candidate)
                points.append(Point(series, place.ranks, measured=needed.loop_us, predicted=foretold))
    return points


def varying(here: Stored, share: float) -> list[Point]:
    return [
        _point(where, float(name.partition("~")[0]), each, alone)
        for where, name, each, alone in _all(here)
        if _is_loop(name) and name.endswith(f"~{share:g}")
    ]


def difference(here: Stored, shares: Sequence[float]) -> list[Point]:
    """What users have today less tollbar's, where both were measured."""
    points = []
    for place, found in _places(here):
        for name, candidates in found.items():
            us, _, share = name.partition("~")
            pair = _pair(candidates)
            if pair and _is_loop(name) and float(share or 0) in shares and float(us) >= 64:
                theirs, ours = (candidates[one].run.value for one in pair)
                series = f"{float(share or 0):.0%}, {pair[0].label} less {pair[1].label}, {_where(place)}"
                points.append(Point(series, float(us), measured=(theirs - ours) / 1e3))
    return points


def applications(here: Stored) -> list[Point]:
    return [_point(where, name, each, alone) for where, name, each, alone in _all(here) if not _is_loop(name)]


def gains(here: Stored) -> list[Point]:
    points = []
    for place, found in _places(here):
        for name, candidates in found.items():
            pair = _pair(candidates)
            if pair and not _is_loop(name):
                theirs, ours = (candidates[one].run.value for one in pair)
                series = f"{pair[0].label} over {pair[1].label}, {_where(place)}"
                points.append(Point(series, name, measured=theirs / ours))
    return points


def shares(here: Stored) -> list[Point]:
    return [
        Point(where, name, measured=each.efficiency)
        for where, name, each, _ in _all(here)
        if not _is_loop(name)
    ]


def _places(here: Stored) -> list[tuple[Place, Workloads]]:
    """Hosts are in nic_hosts.py."""
    return [(place, found) for place, found in here.work.items() if place.over != "hosts"]


def _all(here: Stored) -> Iterator[tuple[str, str, Run, Run | None]]:
    """Series, workload, what was measured, and the same barrier with nothing to compute."""
    for place, found in _places(here):
        for name, candidates in found.items():
            for candidate, each in candidates.items():
                yield _series(place, candidate), name, each, found.get("0", {}).get(candidate)


def _point(series: str, x: float | str, each: Run, alone: Run | None) -> Point:
    foretold = None if alone is None else (each.longest_ns + each.phases * alone.run.value) / 1e3
    return measured_point(series, x, each.run, foretold)


def _is_loop(name: str) -> bool:
    return not name.partition("~")[0].endswith("us")


def _candidates(found: Workloads) -> list[Candidate]:
    return list(dict.fromkeys(one for candidates in found.values() for one in candidates))


def _pair(candidates: dict[Candidate, Run]) -> tuple[Candidate, Candidate] | None:
    """What users have today, and tollbar's."""
    theirs = next((one for name in _THEIRS for one in candidates if one.name == name), None)
    ours = next((one for name in _OURS for one in candidates if one.name == name), None)
    return (theirs, ours) if theirs and ours else None


def _where(place: Place) -> str:
    return f"{place.ranks} ranks over {place.over}"


def _series(place: Place, candidate: Candidate) -> str:
    return f"{candidate.label}, {_where(place)}"

# SPDX-License-Identifier: Apache-2.0
"""The workloads of the NIC paper between threads, ranks and PEs: every measured barrier stands for HB and NB.

The prediction is the paper's model for them: the longest computing of each phase, and the barrier that was
measured with nothing to compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tollbar
from tollbar.data import workloads
from tollbar.data.places import Candidate, Situation
from tollbar.data.workloads import Run, Workloads
from tollbar.papers.exhibit import Point, measured_point
from tollbar.papers.stored import Stored

_OURS, _THEIRS = ("tollbar::barrier", "dissemination"), ("pthread_barrier", "MPI_Barrier", "std::barrier")


def fine(runs: Stored) -> list[Point]:
    """Loops of computing that does not vary."""
    return [
        _point(where, float(name), run, alone)
        for where, name, run, alone in _all(runs)
        if _is_loop(name) and "~" not in name and 0 < float(name) < 200
    ]


def efficiency(runs: Stored, wanted: float) -> list[Point]:
    """The loop at which so much is computing: between the two measured loops around it."""
    points = []
    for place, by_name in _places(runs):
        for candidate in _candidates(by_name):
            loops = workloads.loops_us(by_name, candidate)
            if needed := workloads.needed(loops, wanted):
                predicted_us = tollbar.nic_loop_us(loops[0.0], wanted) if 0.0 in loops else None
                series = _series(place, candidate)
                points.append(Point(series, place.ranks, measured=needed.loop_us, predicted=predicted_us))
    return points


def varying(runs: Stored, share: float) -> list[Point]:
    return [
        _point(where, float(name.partition("~")[0]), run, alone)
        for where, name, run, alone in _all(runs)
        if _is_loop(name) and name.endswith(f"~{share:g}")
    ]


def difference(runs: Stored, shares: Sequence[float]) -> list[Point]:
    """The time of what users have today less tollbar's, where both were measured."""
    points = []
    for place, by_name in _places(runs):
        for name, candidates in by_name.items():
            us, _, share = name.partition("~")
            pair = _pair(candidates)
            if pair and _is_loop(name) and float(share or 0) in shares and float(us) >= 64:
                theirs, ours = (candidates[candidate].run.value for candidate in pair)
                series = f"{float(share or 0):.0%}, {pair[0].label} less {pair[1].label}, {_where(place)}"
                points.append(Point(series, float(us), measured=(theirs - ours) / 1e3))
    return points


def applications(runs: Stored) -> list[Point]:
    return [_point(where, name, run, alone) for where, name, run, alone in _all(runs) if not _is_loop(name)]


def gains(runs: Stored) -> list[Point]:
    points = []
    for place, by_name in _places(runs):
        for name, candidates in by_name.items():
            pair = _pair(candidates)
            if pair and not _is_loop(name):
                theirs, ours = (candidates[candidate].run.value for candidate in pair)
                series = f"{pair[0].label} over {pair[1].label}, {_where(place)}"
                points.append(Point(series, name, measured=theirs / ours))
    return points


def shares(runs: Stored) -> list[Point]:
    return [Point(where, name, measured=run.efficiency) for where, name, run, _ in _all(runs) if not _is_loop(name)]


def _places(runs: Stored) -> list[tuple[Situation, Workloads]]:
    """Hosts are in nic_hosts.py."""
    return [(place, by_name) for place, by_name in runs.work.items() if place.over != "hosts"]


def _all(runs: Stored) -> Iterator[tuple[str, str, Run, Run | None]]:
    """Series, workload, what was measured, and the same barrier with nothing to compute."""
    for place, by_name in _places(runs):
        for name, candidates in by_name.items():
            for candidate, run in candidates.items():
                yield _series(place, candidate), name, run, by_name.get("0", {}).get(candidate)


def _point(series: str, x: float | str, run: Run, alone: Run | None) -> Point:
    predicted_us = None if alone is None else (run.longest_ns + run.phases * alone.run.value) / 1e3
    return measured_point(series, x, run.run, predicted_us)


def _is_loop(name: str) -> bool:
    return not name.partition("~")[0].endswith("us")


def _candidates(by_name: Workloads) -> list[Candidate]:
    return list(dict.fromkeys(candidate for candidates in by_name.values() for candidate in candidates))


def _pair(candidates: dict[Candidate, Run]) -> tuple[Candidate, Candidate] | None:
    """The barriers that users have today, and tollbar's."""
    theirs = next((candidate for name in _THEIRS for candidate in candidates if candidate.name == name), None)
    ours = next((candidate for name in _OURS for candidate in candidates if candidate.name == name), None)
    return (theirs, ours) if theirs and ours else None


def _where(place: Situation) -> str:
    return f"{place.ranks} ranks over {place.over}"


def _series(place: Situation, candidate: Candidate) -> str:
    return f"{candidate.label}, {_where(place)}"

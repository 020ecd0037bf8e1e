# SPDX-License-Identifier: Apache-2.0
"""The figures that tollbar wants to reach over OpenSHMEM: ratios to peers, to floors, to fixed times.

A fixed time is what was seen on a machine of two processors; it says little about another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tollbar.campaigns.shmem import AWAY_MS, AWAY_PES, OVERLAP_PES, SKEW_US
from tollbar.data import statistics
from tollbar.data.shmem_results import Measured, What
from tollbar.data.statistics import Interval
from tollbar.report.mpi_targets import MpiTarget
from tollbar.report.targets import Wanted

DEFAULT, PUTS = "default", "dissemination (puts)"
BLOCKING, IBARRIER, NBX = "shmem_barrier_all", "MPI_Ibarrier", "MPI NBX"
PES = (2, 4, 8, 16)
CROWDED = (4, 8, 16)
ONE_SHOT = (DEFAULT, "one-shot (puts)", "one-shot (stores)", "counter (puts)")
PAIR_NS = 80.0
RELEASED_NS = 1e6


class Least(Wanted):
    """A share wanted: at least so much."""

    @property
    def text(self) -> str:
        return f"at least {self.least:.3g}"


def evaluate(measured: Mapping[int, Measured]) -> list[MpiTarget]:
    """Every target, whether there is something to say about it or not."""
    return [*_exchange(measured), *_latency(measured), *_beside(measured)]


def _exchange(measured: Mapping[int, Measured]) -> Iterator[MpiTarget]:
    for label, peer, most in ((PUTS, IBARRIER, 0.85), (DEFAULT, BLOCKING, 0.90), (PUTS, NBX, 0.60)):
        for pes in PES:
            case = _Case(measured, pes)
            yield case.against(f"exchange with it / with {peer}", "exchange", label, peer, Wanted(most))


def _latency(measured: Mapping[int, Measured]) -> Iterator[MpiTarget]:
    for peer, most in ((BLOCKING, 0.75), (IBARRIER, 0.55)):
        for pes in PES:
            case = _Case(measured, pes)
            yield case.against(f"post + wait / {peer}", "period", DEFAULT, peer, Wanted(most))
    pair = _Case(measured, 2)
    time = f"post + wait / {PAIR_NS / 1e3:.3g} µs"
    yield pair.row(time, PUTS, pair.interval("period", PUTS, 1 / PAIR_NS), Wanted(1.0))
    yield pair.against("post + wait / with 64-bit AMOs", "period", PUTS, "dissemination (amo64)", Wanted(0.6))
    for pes in CROWDED:
        yield _Case(measured, pes).over_floor(DEFAULT, Wanted(1.6))


def _beside(measured: Mapping[int, Measured]) -> Iterator[MpiTarget]:
    away = _Case(measured, AWAY_PES)
    for label in ONE_SHOT:
        name = f"others' release, a posted PE away for {AWAY_MS} ms / {RELEASED_NS / 1e6:.0f} ms"
        yield away.row(name, label, away.interval("away", label, 1 / RELEASED_NS), Wanted(1.0))
    overlap = _Case(measured, OVERLAP_PES)
    name = f"share of the barrier free to compute, {SKEW_US} µs of skew"
    yield overlap.row(name, DEFAULT, overlap.interval("free", DEFAULT), Least(1.0, 0.8))


class _Case:
    """The rows of one number of PEs; says why where there is nothing to say."""

    def __init__(self, measured: Mapping[int, Measured], pes: int) -> None:
        self._pes, self._measured = pes, measured.get(pes)

    def interval(self, what: What, label: str, factor: float = 1.0) -> Interval | None:
        return self._measured.interval(what, label, factor) if self._measured else None

    def against(self, case: str, what: What, label: str, peer: str, wanted: Wanted) -> MpiTarget:
        reached = self._measured.ratio(what, label, peer) if self._measured else None
        return self.row(case, label, reached, wanted)

    def over_floor(self, label: str, wanted: Wanted) -> MpiTarget:
        case = "post + wait / B(N)"
        if self._measured is None:
            return self.row(case, label, None, wanted)
        compared = self._measured.comparison
        if not compared.crowded:
            why = f"not measurable here: {self._pes} PEs on {compared.usable} processors"
            return self.row(case, label, None, wanted, why)
        candidate = compared.find(label)
        series = compared.candidates[candidate].over_floor("period") if candidate else {}
        return self.row(case, label, statistics.summary(series) if series else None, wanted)

    def row(
        self, case: str, label: str, reached: Interval | None, wanted: Wanted, why: str = ""
    ) -> MpiTarget:
        if reached is None:
            values, verdict = (None, None, None), why or self._why_not(label)
        else:
            values, verdict = (reached.value, reached.low, reached.high), wanted.verdict(reached)
        placement = self._measured.comparison.situation.placement if self._measured else None
        library = self._measured.library if self._measured else None
        return MpiTarget(case, self._pes, placement, label, *values, wanted.text, verdict, library)

    def _why_not(self, label: str) -> str:
        if self._measured is None:
            return "not measured: --ranks leaves it out"
        return f"not measured: {label} or what it is compared with is not in this run"

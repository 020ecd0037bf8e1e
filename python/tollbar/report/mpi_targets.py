# SPDX-License-Identifier: Apache-2.0
"""The figures that tollbar wants to reach between processes: ratios to floors, to peers, to fixed times.

A fixed time is what the best peer takes on a machine of two processors; it says little about another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from tollbar.data import statistics
from tollbar.data.comparison import Candidate, Comparison
from tollbar.data.mpi_places import DOORS, Place, Places
from tollbar.data.statistics import Interval, Series
from tollbar.report.targets import Target, Wanted

#: What of B(N) an episode of N ranks may take, and what of Open MPI's own barrier.
CROWDED = {4: 1.5, 8: 1.4, 16: 1.4, 32: 1.4}
OF_OPEN_MPI = {2: 0.3, 4: 1 / 1.5, 8: 1 / 2.3, 16: 1 / 3.2, 32: 1 / 4.3}
PAIR_NS = 50.0
SPLIT_NS = {2: 120.0, 8: 9_000.0}
MPICH_NS = {4: 3_000.0, 8: 9_000.0, 16: 40_000.0}
HOSTS_NS = {8: 128_000.0, 16: 279_000.0}
SKEW_NS = {4: 2_700.0, 8: 7_800.0, 16: 35_000.0}
WAKE_NS = 60_000.0
LATE_RANKS = 4
SET_UP_RANKS = 8

Time = Literal["period", "call", "skew"]


@dataclass(frozen=True)
class MpiTarget(Target):
    """A target, and the MPI it is about."""

    mpi: str | None = None


def evaluate(places: Places) -> list[MpiTarget]:
    """Every target that has something to do with the MPIs and hosts that were measured."""
    known = _Known(places)
    if any(place.hosts > 1 for place in places):
        return list(_over_hosts(known))
    return [*_open_mpi(known), *_mpich(known), *_apart(known), *_skew(known), *_once(known)]


def floors(places: Places) -> list[str]:
    """What the ratios are ratios to, in words: medians over everything of that size."""
    found: dict[int, list[Interval]] = {}
    for place, each in places.items():
        if each.floor and place.hosts == 1 and place.apart == "launcher":
            found.setdefault(place.ranks, []).append(statistics.summary(each.floor))
    said = []
    for ranks, floors_there in sorted(found.items()):
        middle = min(each.value for each in floors_there)
        name = "one cache-line transfer" if ranks == 2 else f"B({ranks})"
        said.append(f"{name}: {middle / 1e3:.4g} µs")
    return said


def _open_mpi(known: _Known) -> Iterator[MpiTarget]:
    for door in DOORS:
        for ranks, most in OF_OPEN_MPI.items():
            here = known.case("Open MPI", ranks)
            name = f"MPI_Barrier [{door}]"
            if ranks == 2:
                yield here.fixed("loop period", name, "period", PAIR_NS)
                yield here.fixed("median of timed calls", name, "call", PAIR_NS)
            else:
                yield here.over_floor(name, Wanted(CROWDED[ranks]))
            yield here.against(name, "MPI_Barrier", Wanted(round(most, 3)))
    for door in DOORS:
        for ranks, most_ns in SPLIT_NS.items():
            here = known.case("Open MPI", ranks)
            yield here.fixed("loop period of Ibarrier + Wait", f"MPI_Ibarrier [{door}]", "period", most_ns)


def _mpich(known: _Known) -> Iterator[MpiTarget]:
    for ranks, most_ns in MPICH_NS.items():
        here = known.case("MPICH", ranks)
        yield here.fixed("loop period", "MPI_Barrier [preload]", "period", most_ns)
        yield here.against("MPI_Barrier [preload]", "PMPI_Barrier", Wanted(0.01))


def _apart(known: _Known) -> Iterator[MpiTarget]:
    for ranks in (4, 8):
        here = known.case("Open MPI", ranks)
        apart = known.case("Open MPI", ranks, apart="cgroups")
        for door in apart.doors or DOORS[:1]:
            name = f"MPI_Barrier [{door}]"
            reached = _between(apart.series(name, "period"), here.series(name, "period"))
            yield apart.row("loop period, a control group each / all in one", name, reached, Wanted(2.0))


def _skew(known: _Known) -> Iterator[MpiTarget]:
    for ranks, most_ns in SKEW_NS.items():
        here, intel = known.case("Open MPI", ranks), known.case("Intel MPI", ranks)
        for door in DOORS:
            name = f"MPI_Barrier [{door}]"
            yield here.fixed("exit skew", name, "skew", most_ns)
            reached = _between(here.series(name, "skew"), intel.series("MPI_Barrier", "skew"))
            why = "" if intel.comparison else "not measured: no Intel MPI in this run"
            yield here.row("exit skew / that of Intel MPI", name, reached, Wanted(1.0), why)


def _once(known: _Known) -> Iterator[MpiTarget]:
    late, set_up = known.case("Open MPI", LATE_RANKS), known.case("Open MPI", SET_UP_RANKS)
    for door in DOORS:
        name = f"MPI_Barrier [{door}]"
        share = late.comparison.singles.waiting.get(name) if late.comparison else None
        wake = late.comparison.singles.wake.get(name) if late.comparison else None
        yield late.row("CPU time of a waiter / the 1 s that it waits", name, _summary(share), Wanted(0.02))
        case = f"wake-up after 1 s / {WAKE_NS / 1e3:.3g} µs"
        yield late.row(case, name, _summary(wake, 1 / WAKE_NS), Wanted(1.0))
    for door in DOORS:
        name = f"MPI_Barrier [{door}]"
        found = set_up.comparison.singles.set_up if set_up.comparison else {}
        reached = _between(found.get(name), found.get("MPI_Barrier"))
        yield set_up.row("dup and first barrier / those of the MPI alone", name, reached, Wanted(1.2))


def _over_hosts(known: _Known) -> Iterator[MpiTarget]:
    for place in known.places:
        if place.hosts != place.ranks or place.ranks not in HOSTS_NS:
            continue
        here = _Case(place.mpi, place.ranks, place, known.places[place])
        for door in here.doors:
            name = f"MPI_Barrier [{door}]"
            yield here.fixed("loop period", name, "period", HOSTS_NS[place.ranks])
            yield here.against(name, "MPI_Barrier", Wanted(round(1 / 1.8, 3)))


class _Known:
    """What was measured."""

    def __init__(self, places: Places) -> None:
        self.places = places

    def case(self, mpi: str, ranks: int, apart: str = "launcher") -> _Case:
        """The oldest MPI whose name begins so, with so many ranks on one host."""
        fits: Iterable[Place] = (
            place
            for place in self.places
            if place.mpi.startswith(f"{mpi} ") and (place.ranks, place.apart) == (ranks, apart)
            and place.hosts == 1 and place.threads == 1
        )  # fmt: skip
        place = min(fits, default=None)
        return _Case(mpi, ranks, place, self.places[place] if place else None)


class _Case:
    """The rows of one place; says why where there is nothing to say."""

    def __init__(self, mpi: str, ranks: int, place: Place | None, comparison: Comparison | None) -> None:
        self._mpi, self._ranks, self._place = mpi, ranks, place
        self.comparison = comparison

    @property
    def doors(self) -> list[str]:
        if self.comparison is None:
            return []
        return [door for door in DOORS if self.comparison.find(f"MPI_Barrier [{door}]")]

    def series(self, name: str, time: Time) -> Series | None:
        candidate = self.comparison.find(name) if self.comparison else None
        return getattr(self.comparison.candidates[candidate], time) if candidate else None

    def fixed(self, what: str, name: str, time: Time, most_ns: float) -> MpiTarget:
        reached = _summary(self.series(name, time), 1 / most_ns)
        return self.row(f"{what} / {most_ns / 1e3:.4g} µs", name, reached, Wanted(1.0))

    def over_floor(self, name: str, wanted: Wanted) -> MpiTarget:
        def value(comparison: Comparison, candidate: Candidate) -> Interval | None:
            return _summary(comparison.candidates[candidate].over_floor("period"))

        if self.comparison and not self.comparison.crowded:
            why = f"not measurable here: {self._ranks} ranks on {self.comparison.usable} processors"
            return self.row("loop period / B(N)", name, None, wanted, why)
        return self.row("loop period / B(N)", name, self._of(name, value), wanted)

    def against(self, name: str, peer: str, wanted: Wanted) -> MpiTarget:
        def value(comparison: Comparison, candidate: Candidate) -> Interval | None:
            other = comparison.find(peer)
            try:
                return comparison.ratio(candidate, other) if other else None
            except ValueError:  # one of them failed wherever the other did not
                return None

        own = "that of the MPI's own"
        return self.row(f"loop period / {own}", name, self._of(name, value), wanted)

    def _of(self, name: str, value: Callable[[Comparison, Candidate], Interval | None]) -> Interval | None:
        candidate = self.comparison.find(name) if self.comparison else None
        return value(self.comparison, candidate) if candidate else None

    def row(self, case: str, name: str, reached: Interval | None, wanted: Wanted, why: str = "") -> MpiTarget:
        place = self._place
        placement = None if place is None else place.placement if place.hosts == 1 else f"{place.hosts} hosts"
        mpi = place.mpi if place else self._mpi
        if reached is None:
            values, verdict = (None, None, None), why or self._why_not(name)
        else:
            values, verdict = (reached.value, reached.low, reached.high), wanted.verdict(reached)
        return MpiTarget(case, self._ranks, placement, name, *values, wanted.text, verdict, mpi)

    def _why_not(self, name: str) -> str:
        if self.comparison is None:
            return "not measured: --ranks or --mpi leave it out, or it is not available here"
        return f"not measured: no {name} in this run"


def _summary(series: Series | None, factor: float = 1.0) -> Interval | None:
    if not series or not any(series.values()):
        return None
    return statistics.median_interval(
        [value * factor for value in statistics.launch_medians(series).values()]
    )


def _between(of: Series | None, to: Series | None) -> Interval | None:
    """The ratio of what was measured in different situations, paired by pass: each has one launch a pass."""
    if not of or not to:
        return None
    one, other = (dict(enumerate(series[key] for key in sorted(series))) for series in (of, to))
    return statistics.ratio_between(one, other)

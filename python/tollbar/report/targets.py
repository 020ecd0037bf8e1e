# SPDX-License-Identifier: Apache-2.0
"""The figures that tollbar wants to reach, each a ratio to a floor or to a peer of the same run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tollbar.data import singles, statistics
from tollbar.data.comparison import Candidate, Comparison, Situation, tail_ratio
from tollbar.data.singles import Singles
from tollbar.data.statistics import Interval

EXCHANGE = ("butterfly", "pairwise", "dissemination")
CROWDED = {4: 1.5, 8: 1.25, 16: 1.25, 64: 1.25}


@dataclass(frozen=True)
class Target:
    """A ratio that was reached, its 95 % interval, the ratio wanted, and what can be said of them."""

    case: str
    ranks: int | None
    placement: str | None
    candidate: str | None
    value: float | None
    low: float | None
    high: float | None
    target: str
    verdict: str


@dataclass(frozen=True)
class Wanted:
    """A ratio wanted: at most `most` and at least `least`."""

    most: float
    least: float | None = None

    @property
    def text(self) -> str:
        return (
            f"{self.least:.3g} to {self.most:.3g}" if self.least is not None else f"at most {self.most:.3g}"
        )

    def verdict(self, reached: Interval) -> str:
        if reached.low is None or reached.high is None:
            return "too few launches for an interval"
        least = float("-inf") if self.least is None else self.least
        if least <= reached.low and reached.high <= self.most:
            return "met"
        if reached.low > self.most or reached.high < least:
            return "missed"
        return "tie"


Comparisons = Mapping[Situation, Comparison]
Value = Callable[[Comparison, Candidate], Interval | None]


def over_floor(comparison: Comparison, candidate: Candidate) -> Interval | None:
    """Loop period over the floor of the same round."""
    series = comparison.candidates[candidate].over_floor("period")
    return statistics.summary(series) if series else None


def evaluate(comparisons: Comparisons) -> list[Target]:
    """Every target, in the order of the design: two threads, crowded, and what has a program of its own."""
    return [*_two_threads(comparisons), *_crowded(comparisons), *_singles(comparisons)]


def floors(comparisons: Comparisons) -> list[str]:
    """What the ratios are ratios to, in words: the medians of the floors."""
    found = []
    two = comparisons.get(Situation("pinned", 2))
    if two and not two.crowded and two.floor:
        found.append(f"one cache-line transfer: {statistics.summary(two.floor).value:.4g} ns")
    for situation, each in comparisons.items():
        if each.crowded and each.floor:
            bound = statistics.summary(each.floor).value / 1e3
            found.append(f"B({situation.ranks}), {situation.placement}: {bound:.4g} µs")
    return found


def _two_threads(comparisons: Comparisons) -> Iterator[Target]:
    here = _Case(comparisons, Situation("pinned", 2))
    yield here.row("loop period / one cache-line transfer", "tollbar::barrier", over_floor, Wanted(1.1))
    for name in EXCHANGE:
        yield here.row("loop period / one cache-line transfer", name, over_floor, Wanted(1.4))
    for name in ("mcs", "tournament"):
        yield here.against(name, f"ck_{name}", Wanted(0.5))


def _crowded(comparisons: Comparisons) -> Iterator[Target]:
    for ranks, most in CROWDED.items():
        here = _Case(comparisons, Situation("free", ranks), crowded=True)
        yield here.row("loop period / B(N)", "tollbar::barrier", over_floor, Wanted(most))
    for ranks in (4, 8, 16):
        here = _Case(comparisons, Situation("pinned", ranks), crowded=True)
        yield here.row("loop period / B(N)", "combination", over_floor, Wanted(1.1))
        yield here.row("switches an episode / (N - C)", "combination", _switches, here.switches_wanted)
    for name, placement in (("turnstile", "free"), ("combination", "pinned")):
        for ranks in (4, 8, 16):
            here = _Case(comparisons, Situation(placement, ranks), crowded=True)
            yield here.row("loop period / B(N)", name, over_floor, Wanted(2.5), "park")
            yield here.against(name, "pthread_barrier", Wanted(0.5), "park")
    for ranks in (4, 8, 16):
        here = _Case(comparisons, Situation("free", ranks), crowded=True)
        yield here.row("p99 / median of an episode's latency", "tollbar::barrier", _tail, Wanted(2.0))


def _singles(comparisons: Comparisons) -> Iterator[Target]:
    for ranks in (4, 8, 16):
        here = _Case(comparisons, Situation("free", ranks))
        for apart in singles.APART:
            reached = here.single(lambda found, apart=apart: found.apart("turnstile", apart))
            case = f"loop period of processes in {apart} of their own / in one session"
            yield here.found(case, "turnstile", reached, Wanted(2.0), apart)
    here = _Case(comparisons, Situation("free", 64))
    for name in ("turnstile", "tollbar::barrier"):
        reached = here.single(lambda found, name=name: found.share(name))
        yield here.found(
            "CPU time of 64 waiters / the 0.5 s that they wait", name, reached, Wanted(0.1), "idle"
        )
    here = _Case(comparisons, Situation("pinned", 2))
    for name in ("turnstile", "dissemination"):
        reached = _scaled(here.single(lambda found, name=name: found.added_ns(name)), 1 / 5)
        case = "time that unused wait_for and missing() add to an episode / 5 ns"
        yield here.found(case, name, reached, Wanted(1.0), "unused")


def _scaled(found: Interval | None, factor: float) -> Interval | None:
    if found is None:
        return None
    low, high = (None if end is None else end * factor for end in (found.low, found.high))
    return Interval(found.value * factor, low, high, found.count)


def _tail(comparison: Comparison, candidate: Candidate) -> Interval | None:
    return tail_ratio(comparison.candidates[candidate])


def _switches(comparison: Comparison, candidate: Candidate) -> Interval | None:
    spare = comparison.situation.ranks - comparison.usable
    return _scaled(statistics.summary(comparison.candidates[candidate].switches), 1 / spare)


class _Case:
    """The rows of one situation; says why where there is nothing to say."""

    def __init__(self, comparisons: Comparisons, situation: Situation, crowded: bool = False) -> None:
        self._situation = situation
        self._comparison = comparisons.get(situation)
        self._crowded = crowded

    @property
    def switches_wanted(self) -> Wanted:
        spare = self._situation.ranks - (self._comparison.usable if self._comparison else 2)
        return Wanted(1 + 0.1 / spare, 1 - 0.1 / spare) if spare > 0 else Wanted(1.0)

    def row(self, case: str, name: str, value: Value, wanted: Wanted, wait: str | None = None) -> Target:
        candidate, why = self._find(name, wait)
        reached = value(self._comparison, candidate) if candidate and self._comparison else None
        if candidate and reached is None:
            why = "not measurable here: the floor could not be measured"
        return self._made(case, candidate.label if candidate else name, reached, wanted, why)

    def against(self, name: str, peer: str, wanted: Wanted, wait: str | None = None) -> Target:
        candidate, why = self._find(name, wait)
        other, why_other = self._find(peer, None)
        reached = (
            self._comparison.ratio(candidate, other) if self._comparison and candidate and other else None
        )
        label = candidate.label if candidate else name
        return self._made(f"loop period / that of {peer}", label, reached, wanted, why or why_other)

    def single(self, value: Callable[[Singles], Interval | None]) -> Interval | None:
        return value(self._comparison.singles) if self._comparison else None

    def found(self, case: str, name: str, reached: Interval | None, wanted: Wanted, what: str) -> Target:
        """A row about one of the things that have a program of their own."""
        if self._comparison is None:
            why = self._not_asked_for()
        else:
            left_out = self._comparison.skipped.get((what, "auto"), "it is not in the results")
            why = f"not measured: {left_out}"
        return self._made(case, name, reached, wanted, why)

    def _not_asked_for(self) -> str:
        placement, ranks = self._situation
        return f"not measured: --ranks has no {ranks}, or --placement no {placement}"

    def _find(self, name: str, wait: str | None) -> tuple[Candidate | None, str]:
        comparison, ranks = self._comparison, self._situation.ranks
        if comparison is None:
            return None, self._not_asked_for()
        if comparison.crowded != self._crowded:
            return None, f"not measurable here: {ranks} threads on {comparison.usable} processors"
        candidate = comparison.find(name, wait)
        if candidate is None:
            why = comparison.skipped.get((name, wait or "auto"), f"{name} is not in the results")
            return None, f"not measured: {why}"
        return candidate, ""

    def _made(self, case: str, label: str, reached: Interval | None, wanted: Wanted, why: str) -> Target:
        ranks, placement = self._situation.ranks, self._situation.placement
        if reached is None:
            return Target(case, ranks, placement, label, None, None, None, wanted.text, why)
        ends = reached.value, reached.low, reached.high
        return Target(case, ranks, placement, label, *ends, wanted.text, wanted.verdict(reached))

# SPDX-License-Identifier: Apache-2.0
"""The rules of what may be said of barrier times, each with its source; docs/design/statistics.md has their coverage.

The unit is the launch, as launches vary more than the rounds inside one (Hunold, Carpen-Amarie 2016): each gives one
median of its rounds, and one ratio to what took turns with it. An interval is that of a median, from order statistics
(Thompson 1936), so no rule assumes a distribution; launches whose laws differ, as under drift, make it no narrower than
it may be (Hoeffding 1956). Fewer than six launches have no interval, and nothing is certain of them. A mean has no
interval that holds under every law (Bahadur, Savage 1956), so no mean is compared. Nothing is chosen for print because
it is narrow or because it differs. A run whose times decide when it ends spends its error (Lan, DeMets 1983).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

LEVEL = 0.95
#: The fewest launches with an interval.
FEWEST = 6
#: The share of the error that the first look at a run spends: the least, in percent, with an interval of six launches.
_FIRST_LOOK = 0.64

#: launch -> round -> value
Series = Mapping[int, Mapping[int, float]]

Named = TypeVar("Named", bound=Hashable)  #: what a caller names candidates by


class Verdict(str, Enum):
    """How a candidate stands among the others of its situation."""

    __str__ = str.__str__

    BEST = "best"
    TIE = "tie"
    SLOWER = "slower"


@dataclass(frozen=True)
class Interval:
    """A median with a confidence interval; low and high are None where there are too few values for one."""

    value: float
    low: float | None
    high: float | None
    count: int

    def times(self, factor: float) -> Interval:
        """The same in another unit."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Interval(self.value * factor, low, high, self.count)


@dataclass(frozen=True)
class Ratio(Interval):
    """A ratio with its interval, and the chance of seeing one as far from 1 if there were no difference."""

    p_value: float
    logs: Sequence[float] = field(default=(), repr=False, compare=False)  #: its logarithm in each launch
    error: float = 1 - LEVEL  #: that of its interval


@dataclass(frozen=True)
class Standing(Generic[Named]):
    """One candidate's ratios to the fastest by each clock, and what may be said about it.

    `by` is the clock that tells it from the fastest, or where none does, the first one.
    """

    candidate: Named
    ratios: Mapping[str, Ratio]
    verdict: Verdict
    by: str

    @property
    def ratio(self) -> Ratio:
        return self.ratios[self.by]

    @property
    def together(self) -> float:
        """The geometric mean over the clocks."""
        return float(np.exp(np.mean([np.log(ratio.value) for ratio in self.ratios.values()])))


def median_interval(values: Sequence[float], error: float = 1 - LEVEL) -> Interval:
    """The median and the interval between two of the values that holds a median of their law (Thompson 1936).

    The interval is closed. Each number that half of the law does not exceed and half does not fall below is outside
    with a probability of `error` at most, whatever the law: two modes, ties and missing moments included. Six values
    are the fewest with an interval of 95 %: all of them lie on one side of the median in 2 of 64 cases.
    Raises ValueError without values.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    count = len(ordered)
    if count == 0:
        raise ValueError("there is no median of no values")
    median = float(np.median(ordered))
    rank = order(count, error)
    if rank is None:
        return Interval(median, None, None, count)
    return Interval(median, float(ordered[rank]), float(ordered[count - 1 - rank]), count)


def error(looks: Iterable[int]) -> float:
    """The error that an interval may have: `looks` has the number of looks at each of its runs.

    A run that ends when its times say so is looked at several times, and any look may be the last. Each look spends a
    part of the error (Lan, DeMets 1983), the first one most of it and look k as 1 / (k (k - 1)), so all looks together
    spend 5 %, however many there are and whatever ends the run. A run whose number of launches stood before it began
    has no looks. The looks of several runs spend the product of their parts.
    """
    parts = (_FIRST_LOOK if look == 1 else (1 - _FIRST_LOOK) / (look * (look - 1)) for look in looks if look)
    return (1 - LEVEL) * math.prod(parts)


@lru_cache(maxsize=1024)
def order(count: int, error: float) -> int | None:
    """The position, from either end, of the values that bound a median of `count` ones; None where they are too few."""
    safe = [rank for rank in range(count // 2) if below(rank, count) <= error / 2]
    return safe[-1] if safe else None


@lru_cache(maxsize=4096)
def below(least: int, count: int) -> float:
    """The probability that at most `least` of `count` values lie on one side of their median."""
    return sum(math.comb(count, number) for number in range(least + 1)) / 2**count


def launch_medians(series: Series) -> dict[int, float]:
    """One number a launch: the median over its rounds."""
    return {launch: float(np.median(list(rounds.values()))) for launch, rounds in series.items() if rounds}


def summary(series: Series) -> Interval:
    """The median over launches of the medians over rounds."""
    return median_interval(list(launch_medians(series).values()))


def quantiles(values: Sequence[float] | np.ndarray, at: Sequence[float]) -> list[float]:
    return [float(value) for value in np.quantile(np.asarray(values, dtype=float), at)]


def ratio(of: Series, to: Series, error: float = 1 - LEVEL) -> Ratio:
    """The ratio of two candidates that took turns in the same processes, paired by round.

    The ratio is the median over launches of the ratio inside a launch, which is the median over its rounds: what a
    launch has in common with itself, as a slow machine or a drift, cancels. It is no ratio of medians, nor of means.
    Raises ValueError when no round has both.
    """
    logs = []
    for launch in sorted(of.keys() & to.keys()):
        both = of[launch].keys() & to[launch].keys()
        if both:
            logs.append(float(np.median([np.log(of[launch][r] / to[launch][r]) for r in both])))
    return ratio_of_logs(logs, error)


def ratio_of_logs(logs: Sequence[float], error: float = 1 - LEVEL) -> Ratio:
    """The ratio from the logarithm that each launch gives; see ratio() and median_interval().

    The chance is that of the sign test (Arbuthnott 1710; Dixon, Mood 1946), launches without a difference counting
    against one. It is corrected for looks: it is 5 % at most where that of the launches is `error` at most.
    """
    if len(logs) == 0:
        raise ValueError("the two candidates were never measured together")
    middle = median_interval(logs, error)
    low, high = (None if end is None else float(np.exp(end)) for end in (middle.low, middle.high))
    fewer = min(sum(log <= 0 for log in logs), sum(log >= 0 for log in logs))
    chance = min(1.0, 2 * below(fewer, middle.count) * (1 - LEVEL) / error)
    return Ratio(float(np.exp(middle.value)), low, high, middle.count, chance, logs, error)


def greatest(ratios: Sequence[Ratio]) -> Interval:
    """The greatest of several ratios, whichever it is: of a candidate to the best of its rivals, or where it is worst.

    Multiple comparisons with the best (Hsu 1984), by order statistics. The lower end is the greatest of the ratios'
    lower ends, which share the error (Bonferroni); where there are too few launches for that it is 0. The upper end is
    the greatest of their upper ends, as the greatest is one of them. Without an interval of each ratio there is none.
    """
    value, count = max(ratio.value for ratio in ratios), min(ratio.count for ratio in ratios)
    highs = [ratio.high for ratio in ratios if ratio.high is not None]
    if len(highs) < len(ratios):
        return Interval(value, None, None, count)
    shared = (median_interval(ratio.logs, ratio.error / len(ratios)).low for ratio in ratios)
    return Interval(
        value, max((float(np.exp(low)) for low in shared if low is not None), default=0.0), max(highs), count
    )


def all_pairs(p_value: float, candidates: int, clocks: int = 1) -> float:
    """The chance corrected as though all pairs of so many candidates had been compared, by each clock.

    The one to compare with was chosen by the same data as the fastest, so any pair may come to be looked at: Steel's
    sign test of all pairs (Steel 1959), by Bonferroni's inequality (Dunn 1961). A candidate is called slower than its
    equal in at most 5 of 100 families. Hsu's comparisons with the best (1984) need fewer launches, and may call one of
    two equal ones slower.
    """
    return min(1.0, p_value * math.comb(candidates, 2) * clocks)


def among(ratio: Ratio, candidates: int, clocks: int = 1) -> Interval:
    """The ratio with an interval that holds together with those of all pairs of so many candidates, by each clock.

    So it holds whichever two the data choose for print; it lies above 1 where all_pairs() finds a difference.
    """
    return one_of(ratio, math.comb(candidates, 2) * clocks)


def one_of(ratio: Ratio, number: int) -> Interval:
    """The ratio with an interval that holds together with those of so many ratios, of which the data chose this one."""
    known = median_interval(ratio.logs, ratio.error / max(1, number))
    low, high = (None if end is None else float(np.exp(end)) for end in (known.low, known.high))
    return Interval(ratio.value, low, high, ratio.count)


def judge(
    candidates: Sequence[Named], clocks: Sequence[str], ratio: Callable[[Named, Named, str], Ratio]
) -> list[Standing[Named]]:
    """All candidates of one situation, fastest first; `ratio` is that of one to another by a clock.

    The fastest has the smallest geometric mean over the clocks. Another one is slower when a clock tells so
    after the correction of all_pairs() and no clock tells the opposite; else it is a tie. The fastest is the best
    only if every other one is slower.
    """
    if not candidates:
        return []

    def standing(of: Named, to: Named) -> Standing[Named]:
        return Standing(of, {clock: ratio(of, to, clock) for clock in clocks}, Verdict.TIE, clocks[0])

    fastest = min(candidates, key=lambda candidate: standing(candidate, candidates[0]).together)
    others = [standing(candidate, fastest) for candidate in candidates if candidate != fastest]
    judged = [_judged(other, len(candidates)) for other in others]
    alone = all(other.verdict is Verdict.SLOWER for other in judged)
    first = replace(standing(fastest, fastest), verdict=Verdict.BEST if alone else Verdict.TIE)
    return [first, *sorted(judged, key=lambda other: other.together)]


def _judged(standing: Standing[Named], candidates: int) -> Standing[Named]:
    sure = {
        clock: ratio.value
        for clock, ratio in standing.ratios.items()
        if all_pairs(ratio.p_value, candidates, len(standing.ratios)) <= 1 - LEVEL
    }
    if not sure or min(sure.values()) < 1:
        return standing
    return replace(standing, verdict=Verdict.SLOWER, by=next(iter(sure)))

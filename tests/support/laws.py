# SPDX-License-Identifier: Apache-2.0
"""The laws that times of launches have on machines, and how often the rules of tollbar.data.statistics hold under them.

    .venv/bin/python tests/support/laws.py

writes the tables of docs/design/statistics.md; every seed is fixed, so they come out alike. Draws are made by numpy at
once for all launches; a rule is the position of the ends of its interval among the sorted launches.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from tollbar.data import statistics
from tollbar.report import published, tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "design" / "statistics.md"
COUNTS = range(2, 31)
DRAWS = 10_000
FAMILIES = 2_000
#: Equal candidates, and their launches.
SIZES = ((2, 6), (4, 9), (12, 12), (12, 20), (12, 30))
#: Launches between two looks at a run that ends when its times say so, and the most that it has.
LOOK, MOST = 6, 96
#: Equal candidates of such a run.
PLANS = 4
_TARGET = 200_000  # draws that tell the median of a law

#: From the number of draws and of launches to the logarithms of times, a row a draw.
Law = Callable[[np.random.Generator, int, int], np.ndarray]


def lognormal(chance, draws, count):
    return chance.normal(0, 0.5, (draws, count))


def two_modes(chance, draws, count):
    return np.log(10) * (chance.random((draws, count)) < 0.4) + chance.normal(0, 0.05, (draws, count))


def slow_launches(chance, draws, count):
    return np.log(3) * (chance.random((draws, count)) < 0.3) + chance.normal(0, 0.1, (draws, count))


def drift(chance, draws, count):
    return np.linspace(0, 1, count) + chance.normal(0, 0.1, (draws, count))


def coarse_clock(chance, draws, count):
    """Four ticks or so, as a short time has by a clock of such steps."""
    return np.log(np.maximum(1, np.rint(4 * np.exp(chance.normal(0, 0.3, (draws, count))))))


def heavy_tail(chance, draws, count):
    """Pareto's law without a mean."""
    return chance.exponential(1, (draws, count))


LAWS: Mapping[str, Law] = {
    "lognormal": lognormal,
    "two modes, 10 times apart": two_modes,
    "30 % slow launches": slow_launches,
    "drift": drift,
    "a coarse clock, ties": coarse_clock,
    "a heavy tail, no mean": heavy_tail,
}


def ratios(law: Law) -> Law:
    """The logarithm of one time over another in the same launch; the second one varies half as much."""
    return lambda chance, draws, count: law(chance, draws, count) - law(chance, draws, count) / 2


def covered(law: Law, count: int, ends: tuple[int, int], draws: int = DRAWS, seed: int = 1) -> float:
    """The share of intervals between the values at these positions of the sorted ones that hold the median of the law.

    Launches under a drift have several laws; the median is that of all their values together.
    """
    target = np.median(law(np.random.default_rng(seed + 1), _TARGET // count, count))
    values = np.sort(law(np.random.default_rng(seed), draws, count), axis=1)
    return float(np.mean((values[:, ends[0]] <= target) & (target <= values[:, ends[1]])))


def printed(law: Law, draws: int = DRAWS) -> dict[int, float]:
    """The coverage by the number of launches, of those numbers with which an interval is printed."""
    ranks = {count: statistics.order(count, 1 - statistics.LEVEL) for count in COUNTS}
    return {
        count: covered(law, count, (rank, count - 1 - rank), draws) for count, rank in ranks.items() if rank is not None
    }


def families(law: Law, candidates: int, count: int, draws: int, seed: int = 1) -> np.ndarray:
    """The logarithms of the times of equal candidates, by family, candidate and launch; launches share a part."""
    chance = np.random.default_rng(seed)
    own = law(chance, draws * candidates, count).reshape(draws, candidates, count)
    return own + chance.normal(0, 0.5, (draws, 1, count))


def blamed(logs: np.ndarray, error: float = 1 - statistics.LEVEL) -> np.ndarray:
    """The families in which one is called slower than the fastest, as statistics.judge() calls them; a bool each."""
    candidates, count = logs.shape[1:]
    to_first = np.median(logs - logs[:, :1], axis=2)
    fastest = logs[np.arange(len(logs)), np.argmin(to_first, axis=1)][:, None]
    rank = statistics.order(count, error / max(1, candidates * (candidates - 1) // 2))
    if rank is None:
        return np.zeros(len(logs), dtype=bool)
    not_slower = np.sum(logs - fastest <= 0, axis=2)
    return np.any(not_slower <= rank, axis=1)


def verdicts() -> str:
    """The table of equal candidates that are called slower."""
    rows = []
    for name, law in LAWS.items():
        shares = [np.mean(blamed(families(law, *size, draws=FAMILIES))) for size in SIZES]
        rows.append([name, *(_percent(share) for share in shares)])
    return tables.markdown_table(["law", *(f"{candidates} of {count}" for candidates, count in SIZES)], rows)


def best_of(law: Law, rivals: int, count: int, draws: int = DRAWS, seed: int = 1) -> tuple[float, float]:
    """The shares of one-sided statements about the ratio to the best of equal rivals that hold: at least, at most.

    The ends are those of statistics.greatest().
    """
    error = 1 - statistics.LEVEL
    own = families(law, rivals + 1, count, draws, seed)
    logs = np.sort(own[:, :1] - own[:, 1:], axis=2)
    rank, shared = statistics.order(count, error), statistics.order(count, error / rivals)
    high = np.max(logs[:, :, count - 1 - rank], axis=1)
    low = -np.inf if shared is None else np.max(logs[:, :, shared], axis=1)
    return float(np.mean(low <= 0)), float(np.mean(high >= 0))


def best() -> str:
    """The table of ratios to the best of seven."""
    rows = []
    for name, law in LAWS.items():
        shares = [best_of(law, 7, count, FAMILIES) for count in (6, 9, 12, 20, 30)]
        rows.append([name, *(_percent(low + high - 1) for low, high in shares)])
    return tables.markdown_table(["law", "n = 6", "9", "12", "20", "30"], rows)


def looks(law: Law, draws: int = FAMILIES, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """For each draw and look whether the interval holds the median of the law, and whether it ends the run as narrow.

    The ends are those of statistics.median_interval() with statistics.error(). Under a drift the median is that of the
    launches so far.
    """
    values = law(np.random.default_rng(seed), draws, MOST)
    known = law(np.random.default_rng(seed + 1), _TARGET // MOST, MOST)
    held, narrow = [], []
    for look, count in enumerate(range(LOOK, MOST + 1, LOOK), 1):
        rank = statistics.order(count, statistics.error([look]))
        ordered, target = np.sort(values[:, :count], axis=1), np.median(known[:, :count])
        low, high = ordered[:, rank], ordered[:, count - 1 - rank]
        held.append((low <= target) & (target <= high))
        narrow.append(high - low < np.log(2))
    return np.stack(held, axis=1), np.stack(narrow, axis=1)


def ended(held: np.ndarray, narrow: np.ndarray) -> tuple[float, float, float, float]:
    """The looks of a run in the mean that ends with the first narrow interval or the last look, and three shares.

    Shares are of printed intervals that hold, of those that hold after the first look where that ends the run, and of
    runs whose intervals hold at every look, whichever ends them.
    """
    last = np.where(narrow.any(axis=1), narrow.argmax(axis=1), narrow.shape[1] - 1)
    printed = held[np.arange(len(held)), last]
    at_first = float(np.mean(printed, where=last == 0)) if np.any(last == 0) else np.nan
    return float(np.mean(last + 1)), float(np.mean(printed)), at_first, float(np.mean(held.all(axis=1)))


def ever_blamed(law: Law, draws: int = FAMILIES, seed: int = 1) -> float:
    """The share of families of equal candidates in which one is called slower at any look."""
    own = families(law, PLANS, MOST, draws, seed)
    blames = [
        blamed(own[:, :, :count], statistics.error([look])) for look, count in enumerate(range(LOOK, MOST + 1, LOOK), 1)
    ]
    return float(np.mean(np.any(blames, axis=0)))


def sequential() -> str:
    """The table of runs that end when their times say so."""
    rows = []
    for name, law in LAWS.items():
        mean, *shares = ended(*looks(ratios(law), DRAWS))
        rows.append([name, f"{LOOK * mean:.0f}", *map(_percent, (*shares, ever_blamed(law)))])
    names = ["law", "launches, mean", "printed intervals that hold", "of runs that end at the first look"]
    names += ["runs that hold at every look", f"one of {PLANS} equal ones is called slower at some look"]
    return tables.markdown_table(names, rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def coverage() -> str:
    """The table of intervals."""
    rows = []
    for name, law in LAWS.items():
        for what, of in (("a time", law), ("a ratio", ratios(law))):
            found = printed(of)
            shown = [_percent(found[count]) for count in (6, 9, 12, 20, 30)]
            rows.append([name, what, str(min(found)), *shown, _percent(min(found.values()))])
    names = ["law", "interval of", "printed from n =", "n = 6", "9", "12", "20", "30", "least of all n to 30"]
    return tables.markdown_table(names, rows)


def texts() -> dict[str, str]:
    """The tables by the names of their marks in the page."""
    return {"coverage": coverage(), "verdicts": verdicts(), "best": best(), "looks": sequential()}


if __name__ == "__main__":
    PAGE.write_text(published.fill(PAGE.read_text(encoding="utf-8"), texts()), encoding="utf-8")

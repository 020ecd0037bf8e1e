# SPDX-License-Identifier: Apache-2.0
"""Hoefler et al.: barriers rated by LogP. The model has one set of parameters, fitted to their Table 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import tollbar
from tollbar.campaigns.mpi_settings import BASIC
from tollbar.data import places
from tollbar.data.places import Candidate, Measurements

import tollbar_lab
from tollbar_lab.models import logp_fit
from tollbar_lab.models.logp_fit import Fit, Measured
from tollbar_lab.models.prediction import Model
from tollbar_lab.papers import logp_classes, logp_drawings, stored
from tollbar_lab.papers.exhibit import Axes, Exhibit, Point, drawing, measured_point, with_published
from tollbar_lab.papers.lacking import Lack
from tollbar_lab.papers.published import values_of
from tollbar_lab.papers.stored import Stored

NAME = "logp"
CENTRAL = "central counter"
OPEN_MPI = "Open MPI"
#: The paper's names, and the plans that they are at the sizes of Table 1.
PLANS = {
    CENTRAL: "central",
    "combining tree": "combining:4",
    "tournament": "tournament",
    "dissemination": "dissemination",
    OPEN_MPI: "bst",
}
#: Up to so many ranks everybody tells rank 0 in Open MPI's coll/basic: its parameter coll_basic_crossover.
CROSSOVER = 4
_SIZES = (2, 4, 8, 16, 24, 32, 40, 48, 56, 64)
_GROUPS = (2, 3, 4, 6, 8, 16)
_AXES = Axes("nodes", "barrier, us")
_OPEN_MPI_CALL = f"MPI_Barrier [{BASIC}]"


def plan_of(name: str, ranks: int) -> str:
    """The plan of the paper's barrier of that name between so many ranks: Open MPI's own changes its plan."""
    return "central" if name == OPEN_MPI and ranks <= CROSSOVER else PLANS[name]


@cache
def fitted(model: str = "t,f") -> Fit:
    """The cost of a message on the longest path and at a hot rank, from Table 1 without its central counter."""
    rows = [
        Measured(PLANS[value.series], int(value.x), value.value)
        for value in values_of(NAME, "Table 1")
        if value.series != CENTRAL
    ]
    return logp_fit.fit(rows, logp_fit.MODELS[model])


#: The paper times loops of barriers, as the Pallas benchmarks do.
_COUNTED = "period_ns"


def price_us(plan: str, ranks: int) -> float:
    return tollbar.price(tollbar.plan(plan, ranks), fitted().logp).last_us


def mildest_us(plan: str, ranks: int) -> float:
    """The price with L = o = g, which asks least of a hot rank."""
    return tollbar.price(tollbar.plan(plan, ranks), fitted("t").logp).last_us


def exhibits(runs: Stored) -> list[Exhibit]:
    return [
        *logp_drawings.exhibits(),
        logp_classes.exhibit(),
        _figure(runs, "Figure 4", "Central Counter", (CENTRAL,)),
        drawing(
            NAME, "Figure 5", "LogP for Central Counter", "central", 6, "everybody tells rank 0, rank 0 tells everybody"
        ),
        drawing(
            NAME,
            "Figure 6",
            "LogP for Combining Tree (n = 3)",
            "combining:3",
            9,
            "groups of three, level by level, then the broadcast",
        ),
        drawing(
            NAME,
            "Figure 7",
            "LogP for the Broadcast Algorithm",
            "bst",
            8,
            "the broadcast that releases the ranks of a tree",
            "wake-up",
        ),
        _combining(runs),
        drawing(NAME, "Figure 9", "LogP for the Tournament Barrier", "tournament", 8, "the lower rank of a pair wins"),
        _figure(runs, "Figure 10", "Tournament Barrier", ("tournament",)),
        drawing(
            NAME,
            "Figure 11",
            "LogP for the Dissemination Barrier",
            "dissemination",
            8,
            "every rank is told something in every round",
        ),
        _figure(runs, "Figure 12", "Dissemination Barrier", ("dissemination",)),
        _figure(runs, "Figure 13", "Comparison of all Barrier Algorithms", tuple(PLANS)),
        _table(runs),
    ]


def _figure(runs: Stored, number: str, title: str, names: Sequence[str]) -> Exhibit:
    where, by_ranks = runs.mpi
    model, points = stored.model_of(by_ranks), []
    for name in names:
        priced = [Point(name, ranks, model=price_us(plan_of(name, ranks), ranks)) for ranks in _SIZES]
        points += stored.merged(priced, _measured(by_ranks, name, PLANS[name], model))
    if len(names) == 1:
        points += _in_a_loop(by_ranks, names[0])
    last = {point.series: point for point in points if point.x == _SIZES[-1] and point.series in PLANS}
    order = sorted(last.values(), key=lambda point: point.model or 0)
    prices = ", ".join(f"{point.series} {point.model:.4g} us" for point in order)
    sentence = f"At {_SIZES[-1]} nodes the parameters fitted to Table 1 give {prices}."
    missing = runs.missing("mpi", _found(by_ranks, names))
    return Exhibit(NAME, number, stored.titled(title, where, points), _AXES, points, sentence, missing)


def _found(by_ranks: Mapping[int, Measurements], names: Sequence[str]) -> dict[str, object]:
    """The candidates of these barriers, and the model's points, by the names that `tollbar bench mpi` takes."""
    candidates: dict[str, object] = {stored.named("dissemination"): stored.model_of(by_ranks)}
    for name in names:
        candidates[_OPEN_MPI_CALL if name == OPEN_MPI else stored.named(PLANS[name])] = _candidate(by_ranks, name)
    if any(not measurements.place.over.startswith(OPEN_MPI) for measurements in by_ranks.values()):
        candidates.pop(_OPEN_MPI_CALL, None)  # which that MPI has not
    return candidates


def _candidate(by_ranks: Mapping[int, Measurements], name: str) -> Candidate | None:
    """The plan by messages, as the paper's component has it; for Open MPI its coll/basic, which the paper means."""
    if name == OPEN_MPI:
        return stored.candidate(by_ranks, _OPEN_MPI_CALL, "auto")
    return stored.by_messages(by_ranks, PLANS[name])


def _measured(by_ranks: Mapping[int, Measurements], name: str, plan: str, model: Model | None) -> list[Point]:
    candidate = _candidate(by_ranks, name)
    if name != OPEN_MPI:
        return stored.measured(by_ranks, candidate, name, model, plan, _COUNTED)
    if candidate is None:  # another barrier, which has another name
        own = next(filter(None, map(places.own_of, by_ranks.values())), None)
        over = next((measurements.place.over for measurements in by_ranks.values()), "")
        return stored.measured(by_ranks, own, f"MPI_Barrier of {over}", None, plan, _COUNTED)
    few = {ranks: measurements for ranks, measurements in by_ranks.items() if ranks <= CROSSOVER}
    many = {ranks: measurements for ranks, measurements in by_ranks.items() if ranks > CROSSOVER}
    return [
        *stored.measured(few, candidate, name, model, plan_of(name, CROSSOVER), _COUNTED),
        *stored.measured(many, candidate, name, model, plan, _COUNTED),
    ]


def _in_a_loop(by_ranks: Mapping[int, Measurements], name: str) -> list[Point]:
    """The mean over a loop of barriers, which is what the Pallas benchmarks print and the paper shows."""
    series, candidate = f"{name}, mean of a loop", _candidate(by_ranks, name)
    priced = [
        Point(series, ranks, model=tollbar_lab.loop_period_us(tollbar.plan(plan_of(name, ranks), ranks), fitted().logp))
        for ranks in _SIZES
    ]
    timed = [
        measured_point(series, ranks, taken, None)
        for ranks, measurements in sorted(by_ranks.items())
        if (taken := measurements.median(candidate, _COUNTED))
    ]
    return stored.merged(priced, timed)


def _combining(runs: Stored) -> Exhibit:
    where, by_ranks = runs.mpi
    points, candidates = [], {}
    for group in _GROUPS:
        plan, series = f"combining:{group}", f"n = {group}"
        priced = [Point(series, ranks, model=price_us(plan, ranks)) for ranks in _SIZES]
        candidate = candidates[stored.named(plan)] = stored.by_messages(by_ranks, plan)
        points += stored.merged(priced, stored.measured(by_ranks, candidate, series, None, plan, _COUNTED))
    best = best_groups(64)
    points.append(Point("best n", "64", model=float(best[0])))
    points = with_published(points, NAME, "Figure 8")
    others = {ranks: best_groups(ranks) for ranks in (32, 48, 64)}
    best_n = "; ".join(f"{ranks} nodes: n = {' or '.join(map(str, n))}" for ranks, n in others.items())
    sentence = f"The cheapest groups with the parameters fitted to Table 1, {best_n}; the paper states n = 4."
    title = stored.titled("rt values of the Combining Tree with n processors a group", where, points)
    return Exhibit(NAME, "Figure 8", title, _AXES, points, sentence, runs.missing("mpi", candidates), aside=("best n",))


def best_groups(ranks: int) -> list[int]:
    """The n with the least price."""
    prices = {n: round(price_us(f"combining:{n}", ranks), 6) for n in range(2, ranks + 1)}
    return [n for n, price in prices.items() if price == min(prices.values())]


def best_at_four(cost: Callable[[str, int, tollbar.LogP], float]) -> tuple[float, float]:
    """The least and the greatest o, in steps of t / 20 with t = 2o + L, for which no group is cheaper than four."""
    good = [n / 20 for n in range(1, 11) if all(_four_is_best(n, ranks, cost) for ranks in (64, 256))]
    return good[0], good[-1]


def _four_is_best(o: int, ranks: int, cost: Callable[[str, int, tollbar.LogP], float]) -> bool:
    costs = tollbar.LogP(L=20 - 2 * o, o=o, g=0)
    return min(cost(f"combining:{n}", ranks, costs) for n in range(2, 17)) == cost("combining:4", ranks, costs)


def _table(runs: Stored) -> Exhibit:
    where, by_ranks = runs.mpi
    points = []
    for name, plan in PLANS.items():
        priced = [Point(name, ranks, model=price_us(plan, ranks)) for ranks in (128, 256)]
        timed = _measured(by_ranks, name, plan, stored.model_of(by_ranks))
        points += stored.merged(priced, [point for point in timed if point.x in (128, 256)])
    points = with_published(points, NAME, "Table 1")
    off = {
        name: max(abs(p.difference_pct) for p in points if p.series == name and p.difference_pct is not None)
        for name in PLANS
    }
    worst = max(pct for name, pct in off.items() if name != CENTRAL)
    central = [point for point in points if point.series == CENTRAL and point.published and point.model]
    times = " and ".join(f"{(point.model or 0) / (point.published or 1):.2g}" for point in central)
    ratio = (central[1].published or 0) / (central[0].published or 1)
    path, hot = (estimate.us for estimate in fitted().estimates)
    sentence = (
        f"One set of parameters ({path:.4g} us for a message on the longest path, {hot:.3g} us for each "
        f"further message of a rank) gives the four logarithmic barriers within {worst:.2g} %; the "
        f"central counter is a misfit: its price is {times} times what is printed, whose two numbers "
        f"differ by {ratio:.4g} where the form is linear in the nodes."
    )
    missing = None if any(point.measured for point in points) else Lack("mpi", options="--ranks 128,256")
    title = stored.titled("Five barriers at 128 and 256 nodes", where, points)
    return Exhibit(NAME, "Table 1", title, _AXES, points, sentence, missing)

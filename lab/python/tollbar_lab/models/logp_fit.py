# SPDX-License-Identifier: Apache-2.0
"""Fits the parameters of a LogP model to measured barriers, and says which of them the data do not identify.

The model is the exact price of each plan, not a formula. The relative residuals are minimised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import tollbar
from scipy import optimize, stats

Values = np.ndarray
_SAME = 1e-6  # prices that differ by less, relative to the measurement, are the same
_FAR = 1e4  # so many times the largest parameter stand for no bound


@dataclass(frozen=True)
class Measured:
    plan: str
    ranks: int
    us: float


@dataclass(frozen=True)
class Quantity:
    """A number that follows from the parameters: one of them, or what some of them make together."""

    name: str
    meaning: str
    of: Callable[[Values], float]


@dataclass(frozen=True)
class Model:
    """A few numbers that become L, o and g; `shapes` are proportions from which a search begins."""

    parameters: tuple[Quantity, ...]
    logp: Callable[[Values], tollbar.LogP]
    shapes: tuple[tuple[float, ...], ...]
    derived: tuple[Quantity, ...] = ()


def _parameter(index: int, name: str, meaning: str) -> Quantity:
    return Quantity(name, meaning, lambda values: float(values[index]))


#: By the names of their parameters.
MODELS = {
    "t": Model(
        (_parameter(0, "t", "one message on the longest path, with L = o = g = t/3"),),
        lambda values: tollbar.LogP(values[0] / 3, values[0] / 3, values[0] / 3),
        ((1.0,),),
    ),
    "t,f": Model(
        (
            _parameter(0, "t", "one message on the longest path"),
            _parameter(1, "f", "the cost of a rank's second message, and of each one after it"),
        ),
        lambda values: tollbar.LogP(values[0], 0, values[1]),
        ((1.0, 0.1), (1.0, 0.6), (1.0, 1.5)),
    ),
    "L,o,g": Model(
        (_parameter(0, "L", "latency"), _parameter(1, "o", "overhead"), _parameter(2, "g", "gap")),
        lambda values: tollbar.LogP(values[0], values[1], values[2]),
        ((1 / 3, 1 / 3, 1 / 3), (1.0, 0.0, 0.0), (0.0, 0.5, 0.0), (1.0, 0.0, 0.6), (0.5, 0.25, 0.6)),
        (
            Quantity("2o+L", "one message on the longest path", lambda v: float(2 * v[1] + v[0])),
            Quantity("max(o,g)", "what each further message costs a rank", lambda v: float(max(v[1], v[2]))),
        ),
    ),
}


@dataclass(frozen=True)
class Estimate:
    """`low_us` .. `high_us` is the 95 % interval of what the data tell, and all values that give the same
    prices of what they do not. None where there is no bound, or no spare row to tell an interval from."""

    quantity: Quantity
    us: float
    low_us: float | None
    high_us: float | None
    identified: bool


@dataclass(frozen=True)
class Fit:
    model: Model
    values: Values
    logp: tollbar.LogP
    rms: float  #: of the relative residuals of the rows that were fitted
    rank: int  #: of the Jacobian: how many numbers the data identify
    estimates: list[Estimate] = field(default_factory=list)


class Prices:
    """The prices of measured plans, which are made once."""

    def __init__(self, rows: Sequence[Measured], model: Model) -> None:
        self._plans = [tollbar.plan(row.plan, row.ranks) for row in rows]
        self._model = model
        self.us = np.array([row.us for row in rows])

    def __call__(self, values: Values) -> Values:
        logp = self._model.logp(values)
        return np.array([tollbar.price(plan, logp).last_us for plan in self._plans])

    def residuals(self, values: Values) -> Values:
        return self(values) / self.us - 1


def fit(rows: Sequence[Measured], model: Model) -> Fit:
    """The parameters, none below 0, with the least squares of the relative residuals."""
    prices = Prices(rows, model)
    best, *equals = _search(prices, model)
    scale = float(np.max(best))
    jacobian = _slopes(prices.residuals, best, scale)
    _, singular, directions = np.linalg.svd(jacobian)
    rank = int(np.sum(singular > _SAME * singular[0]))
    free = directions[rank:]  # along these no price changes
    for axis in free.T @ free:
        equals += [_farthest(prices, best, sign * axis, scale) for sign in (-1, 1) if np.max(abs(axis)) > 1e-6]

    residuals = prices.residuals(best)
    spare = len(rows) - rank
    # The covariance of the parameters in units of the scale, as the Jacobian's columns are.
    covariance = np.linalg.pinv(jacobian.T @ jacobian, rcond=_SAME**2)
    noise = float(np.sqrt(residuals @ residuals / spare) * stats.t.ppf(0.975, spare)) if spare else None

    def estimate(quantity: Quantity) -> Estimate:
        value = quantity.of(best)
        seen = [value, *(quantity.of(other) for other in equals)]
        if max(seen) - min(seen) > 1e-3 * scale:
            high = None if max(seen) > _FAR / 2 * scale else max(seen)
            return Estimate(quantity, value, min(seen), high, identified=False)
        if noise is None:
            return Estimate(quantity, value, None, None, identified=True)
        slope = _slopes(lambda values: np.array([quantity.of(values)]), best, scale)[0]
        margin = noise * float(np.sqrt(slope @ covariance @ slope))
        return Estimate(quantity, value, max(value - margin, 0.0), value + margin, identified=True)

    rms = float(np.sqrt(np.mean(residuals**2)))
    estimates = [estimate(quantity) for quantity in (*model.parameters, *model.derived)]
    return Fit(model, best, model.logp(best), rms, rank, estimates)


def occupancy_alone(rows: Sequence[Measured], path_us: float) -> tuple[float, float]:
    """The occupancy f that these rows alone ask for if a message on the longest path costs `path_us`, and the
    largest relative residual that is left."""
    prices = Prices(rows, MODELS["t,f"])
    highest = float(np.max(prices.us))
    minimum = optimize.minimize_scalar(
        lambda f: float(np.sum(prices.residuals(np.array([path_us, f])) ** 2)),
        bounds=(0, highest),
        method="bounded",
        options={"xatol": 1e-6 * highest},
    )
    left = prices.residuals(np.array([path_us, minimum.x]))
    return float(minimum.x), float(np.max(np.abs(left)))


def _search(prices: Prices, model: Model) -> list[Values]:
    """The best parameters, and after them other ends of the search that are as good.

    Prices bend where another path becomes the longest, so one start is not enough.
    """
    ends = []
    for shape in model.shapes:
        start = np.array(shape)
        ratio = prices(start) / prices.us
        start = start * (np.sum(ratio) / np.sum(ratio**2)) if np.any(ratio) else start
        end = optimize.least_squares(
            prices.residuals, start, bounds=(0, np.inf), x_scale=float(np.max(start)), xtol=1e-12, ftol=1e-12
        )
        ends.append((float(end.cost), end.x))
    least = min(cost for cost, _ in ends)
    good = [values for cost, values in ends if cost <= least * (1 + 1e-6) + _SAME**2]
    # An end of the search may lie a hair above a parameter's bound.
    return [np.where(values < 1e-6 * np.max(values), 0.0, values) for values in good]


def _slopes(function: Callable[[Values], Values], values: Values, scale: float) -> np.ndarray:
    """The Jacobian, a column a parameter, by steps that stay at or above 0. In units of `scale`."""
    step = 1e-5
    columns = []
    for axis in np.eye(len(values)):
        above = values + step * scale * axis
        below = np.maximum(values - step * scale * axis, 0)
        width = float(np.sum(above - below)) / scale
        columns.append((np.atleast_1d(function(above)) - np.atleast_1d(function(below))) / width)
    return np.stack(columns, axis=1)


def _farthest(prices: Prices, best: Values, direction: Values, scale: float) -> Values:
    """The last parameters in that direction with the same prices; _FAR scales away if there is no last."""
    unit = scale * direction / np.max(np.abs(direction))
    residuals = prices.residuals(best)

    def same(steps: float) -> bool:
        values = best + steps * unit
        if np.min(values) < -1e-9 * scale:
            return False
        return bool(np.max(np.abs(prices.residuals(np.maximum(values, 0)) - residuals)) <= _SAME)

    good, bad = 0.0, 1e-3
    while bad < _FAR and same(bad):
        good, bad = bad, 4 * bad
    if bad >= _FAR and same(_FAR):
        return np.maximum(best + _FAR * unit, 0)
    for _ in range(30):
        middle = (good + bad) / 2
        good, bad = (middle, bad) if same(middle) else (good, middle)
    return np.maximum(best + good * unit, 0)

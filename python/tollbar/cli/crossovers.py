# SPDX-License-Identifier: Apache-2.0
"""Cheapest plans under LogP, and from which number of ranks on they are.

curves = crossovers.curves(plans, crossovers.sizes(2, 10**6), logp)
crossovers.stretches(curves, logp)      # "from 2 to 11 ranks central", ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tollbar
from tollbar.columns import column

EVERY_UP_TO = 64  # beyond it powers of two, and
HALVES_UP_TO = 1 << 16  # the numbers half way between them: the larger ones take a second and more to price


class Cost(NamedTuple):
    """A price without the times of each rank, of which there may be millions."""

    last_us: float
    first_us: float
    mean_us: float
    messages: int


#: The cost of each plan, by number of ranks in ascending order.
Curves = Mapping[str, Mapping[int, Cost]]

_EQUAL = 1 + 1e-12


@dataclass(frozen=True)
class Stretch:
    """Numbers of ranks between which one plan is the cheapest."""

    ranks_from: int = column("the least number of ranks")
    ranks_to: int = column("the greatest")
    plan: str = column("the cheapest plan between; of equal ones that with the fewest messages")
    also: str | None = column("plans that cost the same wherever they were priced")
    priced_at: int = column("a number of ranks, the greatest in between at which all plans were priced")
    last_us: float = column("the plan's price there: when the last rank leaves")
    runner_up: str | None = column("the cheapest other plan there")
    ratio: float | None = column("its price over the plan's")


def sizes(first: int, last: int) -> list[int]:
    """Numbers of ranks worth pricing: all small ones, then two or one for each doubling, and the ends."""
    powers = {1 << power for power in range(EVERY_UP_TO.bit_length(), last.bit_length() + 1)}
    halves = {power * 3 // 4 for power in powers if power <= HALVES_UP_TO}
    inside = {*range(first, min(last, EVERY_UP_TO) + 1), *powers, *halves, first, last}
    return sorted(size for size in inside if first <= size <= last)


def curves(
    plans: Sequence[str],
    at: Sequence[int],
    logp: tollbar.LogP,
    receive: tollbar.Receive = tollbar.Receive.at_await,
    priced: Callable[[int], object] = lambda ranks: None,
) -> dict[str, dict[int, Cost]]:
    """Prices every plan at every size; calls `priced` after each."""
    curves: dict[str, dict[int, Cost]] = {plan: {} for plan in plans}
    for ranks in at:
        for plan, costs in curves.items():
            price = tollbar.price(tollbar.plan(plan, ranks), logp, receive)
            costs[ranks] = Cost(price.last_us, price.first_us, price.mean_us, price.messages)
            priced(ranks)
    return curves


def stretches(curves: Curves, logp: tollbar.LogP, receive: tollbar.Receive = tollbar.Receive.at_await) -> list[Stretch]:
    """The fewest stretches that the priced sizes allow. A change of the cheapest plan between two of them is
    found by halving, as if it changed once there. Among plans that cost the same the one with the fewest
    messages is taken, then the one named first."""
    parts = _parts(curves)
    result = []
    begin = next(iter(next(iter(curves.values()))))
    for number, (at, cheapest) in enumerate(parts):
        plan = _simplest(cheapest, curves, at[-1])
        last = at[-1]
        if number + 1 < len(parts):
            after, others = parts[number + 1]
            last = _change(plan, _simplest(others, curves, after[-1]), at[-1], after[0], logp, receive) - 1
        runner_up, ratio = _runner_up(plan, cheapest, curves, at[-1])
        also = ",".join(other for other in cheapest if other != plan) or None
        last_us = curves[plan][at[-1]].last_us
        result.append(Stretch(begin, last, plan, also, at[-1], last_us, runner_up, ratio))
        begin = last + 1
    return result


def _parts(curves: Curves) -> list[tuple[list[int], list[str]]]:
    """Neighbouring sizes, and the plans that are the cheapest at all of them."""
    parts: list[tuple[list[int], list[str]]] = []
    for ranks in next(iter(curves.values())):
        least_us = min(costs[ranks].last_us for costs in curves.values())
        cheapest = [plan for plan, costs in curves.items() if costs[ranks].last_us <= least_us * _EQUAL]
        still = [plan for plan in parts[-1][1] if plan in cheapest] if parts else []
        if still:
            parts[-1] = ([*parts[-1][0], ranks], still)
        else:
            parts.append(([ranks], cheapest))
    return parts


def _simplest(plans: Sequence[str], curves: Curves, ranks: int) -> str:
    return min(plans, key=lambda plan: curves[plan][ranks].messages)


def _runner_up(plan: str, cheapest: Sequence[str], curves: Curves, ranks: int) -> tuple[str | None, float | None]:
    others = [other for other in curves if other not in cheapest]
    if not others:
        return None, None
    second = min(others, key=lambda other: curves[other][ranks].last_us)
    least_us = curves[plan][ranks].last_us
    return second, curves[second][ranks].last_us / least_us if least_us else None


def _change(before: str, after: str, low: int, high: int, logp: tollbar.LogP, receive: tollbar.Receive) -> int:
    """The least number of ranks above `low` at which `after` is cheaper than `before`; it is at `high`."""

    def us(plan: str, ranks: int) -> float:
        return tollbar.price(tollbar.plan(plan, ranks), logp, receive).last_us

    while high - low > 1:
        middle = (low + high) // 2
        if us(after, middle) * _EQUAL < us(before, middle):
            high = middle
        else:
            low = middle
    return high


def sentence(stretches: Sequence[Stretch]) -> str:
    """The advice in words."""
    first, *between = stretches
    if not between:
        return f"From {first.ranks_from} to {first.ranks_to} ranks take {first.plan}."
    *between, last = between
    words = [f"Below {first.ranks_to + 1} ranks take {first.plan}"]
    words += [f"then up to {stretch.ranks_to} {stretch.plan}" for stretch in between]
    return ", ".join([*words, f"from {last.ranks_from} on {last.plan}."])

# SPDX-License-Identifier: Apache-2.0
"""The best parameter of an algorithm under LogP, such as the n of `combining:n`, as numbers and as a figure.

Hoefler et al. find n = 4 for their combining tree. It depends on what share the overhead has in a message: a
wide tree saves levels, each of which costs 2o + L, and pays max(o, g) for each further child.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

import tollbar

EVERY_UP_TO = 64  # beyond it only powers of two and all ranks are tried
SHARES = tuple(number / 100 for number in range(1, 51))  # of the overhead in 2o + L, whose half is the most


def algorithms() -> dict[str, range]:
    """Every algorithm with one whole number for a parameter, and what it accepts."""
    accepted = {}
    for each in tollbar.catalogue():
        first, _, last = each.restrictions.partition(" to ")
        if first.isdigit() and each.parameters.isalpha():
            accepted[each.name] = range(int(first), int(last) + 1)
    return accepted


def candidates(algorithm: str, ranks: int) -> list[int]:
    """The parameters worth trying for so many ranks: beyond their number they make no other plan."""
    accepted = algorithms()[algorithm]
    wide = {2**power for power in range(7, ranks.bit_length())} | {ranks}
    tried = {*range(1, min(EVERY_UP_TO, ranks) + 1), *wide}
    return sorted(each for each in tried if each in accepted) or [accepted.start]


@dataclass(frozen=True)
class Priced:
    parameter: int
    price: tollbar.Price


def curve(
    algorithm: str, ranks: int, logp: tollbar.LogP, receive: tollbar.Receive = tollbar.Receive.at_await
) -> list[Priced]:
    """What every candidate costs, in ascending order of the parameter."""
    return [
        Priced(each, tollbar.price(tollbar.plan(f"{algorithm}:{each}", ranks), logp, receive))
        for each in candidates(algorithm, ranks)
    ]


def best(priced: Sequence[Priced]) -> list[Priced]:
    """The cheapest of them; several where they cost the same."""
    least = min(each.price.last_us for each in priced)
    return [each for each in priced if each.price.last_us <= least * (1 + 1e-12)]


def best_by_share(
    algorithm: str,
    ranks: int,
    shares: Iterable[float] = SHARES,
    receive: tollbar.Receive = tollbar.Receive.at_await,
) -> list[tuple[float, list[int]]]:
    """The best parameters for each share s of the overhead in t = 2o + L, with o = s t and g = 0."""
    found = []
    for share in shares:
        logp = tollbar.LogP(L=1 - 2 * share, o=share, g=0)
        found.append((share, [each.parameter for each in best(curve(algorithm, ranks, logp, receive))]))
    return found


def figure(
    algorithm: str,
    sizes: Sequence[int],
    logp: tollbar.LogP,
    receive: tollbar.Receive = tollbar.Receive.at_await,
) -> Figure:
    """Left, the price over the parameter for each number of ranks, the cheapest marked; right, the cheapest
    over the share of the overhead in a message, with all that cost the same as one band."""
    drawn = Figure(figsize=(10, 4), layout="constrained")
    prices, shares = drawn.subplots(1, 2)
    for number, ranks in enumerate(sizes):
        colour = f"C{number % 10}"
        priced = curve(algorithm, ranks, logp, receive)
        cheapest = best(priced)
        prices.plot(
            [each.parameter for each in priced], [each.price.last_us for each in priced],
            color=colour, marker=".", label=f"{ranks} ranks",
        )  # fmt: skip
        prices.plot(
            [each.parameter for each in cheapest], [each.price.last_us for each in cheapest],
            color=colour, marker="o", markersize=9, fillstyle="none", linestyle="none",
        )  # fmt: skip
        by_share = best_by_share(algorithm, ranks, SHARES, receive)
        at = [share for share, _ in by_share]
        low, high = ([pick(ties) for _, ties in by_share] for pick in (min, max))
        shares.fill_between(at, low, high, color=colour, alpha=0.25, linewidth=0)
        shares.plot(at, low, color=colour, label=f"{ranks} ranks")
    for axes in (prices, shares):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    prices.set_xscale("log", base=2)
    prices.set_xlabel(f"n of {algorithm}:n")
    prices.set_ylabel(f"µs with L, o, g = {logp.L:g}, {logp.o:g}, {logp.g:g}")
    prices.set_ylim(bottom=0)
    shares.set_yscale("log", base=2)
    shares.set_xlabel("o / (2o + L), with g = 0")
    shares.set_ylabel("cheapest n")
    shares.yaxis.set_major_formatter("{x:g}")
    prices.xaxis.set_major_formatter("{x:g}")
    return drawn

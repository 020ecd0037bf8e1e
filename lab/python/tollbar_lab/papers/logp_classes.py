# SPDX-License-Identifier: Apache-2.0
"""Section 4 of Hoefler et al.: the classes of complexity of nine algorithms, derived from their plans."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import tollbar

from tollbar_lab.papers.exhibit import Axes, Exhibit, Point

_PAPER = "logp"
#: The paper's classes and algorithms, in its order.
PRINTED = {
    "O(P)": ("central",),
    "O(n log_n P)": ("combining:4", "fway_tournament:4", "mcs"),
    "O(log2 P) with broadcast": ("tournament", "bst"),
    "O(log2 P) without broadcast": ("butterfly", "pairwise", "dissemination"),
}
SIZES = range(2, 257)
_POWERS = (4, 16, 64, 256)  # of 4 and so of 2: elsewhere levels are not full
_UNIT = tollbar.LogP(L=1, o=1, g=1)


@cache
def _price(plan: str, ranks: int) -> tollbar.Price:
    return tollbar.price(tollbar.plan(plan, ranks), _UNIT)


@cache
def widest(plan: str, ranks: int) -> int:
    """The most messages of one step that one rank receives; a message's step is one more than its sender has behind it.

    Raises ValueError for a plan that cannot end.
    """
    made = tollbar.plan(plan, ranks)
    words = {str(rank): list(made.program(rank)) for rank in range(ranks)}
    behind = dict.fromkeys(words, 0)  # steps that each rank has behind it
    step_of: dict[tuple[str, str], int] = {}
    received: Counter[tuple[str, int]] = Counter()
    waiting = list(words)
    while waiting:
        still = [rank for rank in waiting if not _go_on(rank, words[rank], behind, step_of, received)]
        if len(still) == len(waiting) and not any(_could(rank, words[rank], step_of) for rank in still):
            raise ValueError(f"{plan} between {ranks} ranks cannot end")
        waiting = still
    return max(received.values(), default=0)


def _could(rank: str, word: list[str], step_of: dict[tuple[str, str], int]) -> bool:
    return word[0].startswith("!") or (word[0][1:], rank) in step_of


def _go_on(
    rank: str,
    word: list[str],
    behind: dict[str, int],
    step_of: dict[tuple[str, str], int],
    received: Counter[tuple[str, int]],
) -> bool:
    """Takes the steps of a rank as far as its awaits allow; true at the end of its word."""
    while word and _could(rank, word, step_of):
        step, peer = word[0][0], word.pop(0)[1:]
        if step == "!":
            step_of[rank, peer] = behind[rank] + 1
        else:
            behind[rank] = max(behind[rank], step_of[peer, rank])
            received[rank, step_of[peer, rank]] += 1
    return not word


def fits(plan: str) -> tuple[float, float]:
    """The parts of the variance of a plan's price, from 2 to 256 ranks, that P and log2 P explain."""
    ranks = np.array(SIZES)
    prices = np.array([_price(plan, int(n)).last_us for n in ranks])
    linear, logarithm = (np.corrcoef(curve, prices)[0, 1] ** 2 for curve in (ranks, np.log2(ranks)))
    return float(linear), float(logarithm)


def class_of(plan: str) -> str:
    """The class that follows from the growth of the price, the messages of a step at one rank, and all messages."""
    linear, logarithm = fits(plan)
    if linear > logarithm:
        return "O(P)"
    if min(widest(plan, ranks) for ranks in _POWERS) > 1:
        return "O(n log_n P)"
    all_linear = all(_price(plan, ranks).messages == 2 * (ranks - 1) for ranks in SIZES)
    return f"O(log2 P) {'with' if all_linear else 'without'} broadcast"


def exhibit() -> Exhibit:
    plans = [plan for plans in PRINTED.values() for plan in plans]
    shown = [2**power for power in range(1, 9)]
    points = [Point(f"{plan}, {class_of(plan)}", n, model=_price(plan, n).last_us) for plan in plans for n in shown]
    steps = "; ".join(
        f"{' and '.join(f'{widest(plan, 256)} of {plan}' for plan in PRINTED[name])}" for name in list(PRINTED)[:3]
    )
    same = all(class_of(plan) == name for name, plans in PRINTED.items() for plan in plans)
    worst = min(max(fits(plan)) for plan in plans)
    sentence = (
        f"{'All' if same else 'Not all'} nine algorithms are in the classes that the paper gives them. The price of "
        f"the first is a line in P and that of the others in log2 P, for 2 to 256 ranks, with at least {worst:.2f} of "
        f"the variance explained; a rank receives up to so many messages in one step between 256: {steps}, and 1 "
        "elsewhere; trees send 2(P - 1) messages, which is a broadcast, the others P log2 P."
    )
    title, axes = "Four classes of complexity", Axes("nodes", "price over L = o = g", log_y=True)
    return Exhibit(_PAPER, "Section 4", title, axes, points, sentence, apart=r"O\(.*")

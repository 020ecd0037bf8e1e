# SPDX-License-Identifier: Apache-2.0
"""Arguments that several commands share: ranks and ranges of ranks, LogP parameters, late ranks, plans."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import chain

import tollbar
from tollbar.cli import suggest

#: Every algorithm of the catalogue with its default parameters.
CATALOGUE = tuple(algorithm.name for algorithm in tollbar.catalogue())

#: Those that run everywhere.
DEFAULT_PLANS = tuple(algorithm.name for algorithm in tollbar.catalogue() if not algorithm.runs_on)

#: Those of them without roles: between hosts no store and no broadcast releases all at once.
MESSAGE_PLANS = tuple(each.name for each in tollbar.catalogue() if not each.runs_on and not each.player)


def plan(text: str, others: Sequence[str] = ()) -> str:
    """One of the others, or a spelling whose names are in the catalogue.

    Whether the parameters fit is seen when the plan is made.
    """
    known = [*others, *dict.fromkeys(name.partition(":")[0] for name in CATALOGUE)]
    for level in [] if text in others else text.split("/"):
        name = level.partition("@")[0].partition(":")[0]
        if name not in known[len(others) :]:
            problem = f"plan '{text}': there is no algorithm '{name}'; {suggest.instead(name, known)}"
            raise argparse.ArgumentError(None, problem)
    return text


def rank_count(text: str) -> int:
    """A number of ranks, 1 or more."""
    try:
        ranks = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of ranks") from None
    if not 1 <= ranks <= tollbar.max_ranks:
        raise argparse.ArgumentTypeError(f"a plan has 1 to {tollbar.max_ranks} ranks, not {text}")
    return ranks


def rank_counts(text: str) -> list[range]:
    """`A`, `A..B` or a list of both with commas, such as 1..64,100,128."""
    return [_rank_range(part) for part in text.split(",")]


def _rank_range(text: str) -> range:
    first, dots, last = text.partition("..")
    if not dots:
        return range(rank_count(first), rank_count(first) + 1)
    if not first or not last:
        raise argparse.ArgumentTypeError(f"'{text}' is not a range; write A..B, such as 1..64")
    if rank_count(first) > rank_count(last):
        raise argparse.ArgumentTypeError(f"the range '{text}' is empty; write the smaller number first")
    return range(rank_count(first), rank_count(last) + 1)


def each(ranges: list[range]) -> Sequence[int]:
    """The sizes of `ranges` in the order given, each once."""
    if len(ranges) == 1:
        return ranges[0]  # perhaps millions of sizes: do not write them out
    return list(dict.fromkeys(chain.from_iterable(ranges)))


#: The transports whose parameters `tollbar logp measure` stores.
MEASURED = ("threads", "mpi", "shmem", "udp")


def names(text: str) -> tuple[str, ...]:
    """What stands between commas."""
    return tuple(part for part in text.split(",") if part)


def logp(text: str) -> tollbar.LogP:
    """`L,o,g` or `L,o_s,o_r,g` in microseconds, or a transport, whose newest stored measurement is taken."""
    try:
        if text.partition(":")[0] in MEASURED:
            from tollbar.campaigns import logp as logp_measure

            return logp_measure.stored(text).logp
        return tollbar.LogP.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def microseconds(text: str) -> float:
    """A finite time of at least 0."""
    try:
        us = float(text)
    except ValueError:
        us = math.nan
    if not math.isfinite(us) or us < 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of microseconds, at least 0")
    return us


def late_rank(text: str) -> tuple[int, float]:
    """`RANK:US`: this rank enters so many microseconds after the others."""
    rank, _, by_us = text.partition(":")
    try:
        late = int(rank), float(by_us)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not RANK:US, such as 3:12.5") from None
    if late[0] < 0:
        raise argparse.ArgumentTypeError(f"'{text}': ranks start at 0")
    return late

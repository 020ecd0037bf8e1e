# SPDX-License-Identifier: Apache-2.0
"""The dynamic sparse data exchange of the split-mode paper, simulated letter by letter.

Raymond, "Implementing Split-Mode Barriers in OpenSHMEM": each PE chooses ceil(log2 PEs) others, writes 1 to
1024 bytes for each, takes a place in the queue of each by a fetch-and-add, and puts a notice there. The split
barrier tells that all notices are there; what they name is fetched by gets; a barrier ends the iteration.

A PE has one request under way at a time. A request waits at the card of the node that it goes to, first come
first served: the PEs of a node share it.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tollbar import InvalidArgument

from tollbar_lab.models import shmem, shmem_published
from tollbar_lab.models.shmem_published import ITERATIONS, PES, PES_A_NODE

LONGEST = 1024  #: bytes of a letter

_BYTES_A_US = 6800  # FDR InfiniBand, four lanes

#: Row "64-bit Puts": what a PE spends on choosing and writing a letter, and on finding the one that comes.
LETTER_US = 30.2

_REQUESTS = shmem.SIGNALS["64-bit AMOs"]  # the fetch-and-add; a get has its way and its overhead
_NOTICES = shmem.SIGNALS["64-bit Puts"]  # and the signals of the barrier that ends an iteration


@dataclass(frozen=True)
class Exchange:
    """One iteration without its split barrier, until the last PE is done; mean microseconds."""

    send_us: float  #: letters written, places taken, notices put
    fetch_us: float  #: letters fetched
    closing_us: float  #: the barrier at its end

    @property
    def all_us(self) -> float:
        return self.send_us + self.fetch_us + self.closing_us


def letters(pes: int) -> int:
    """The letters that a PE writes in an iteration."""
    return (pes - 1).bit_length()


@cache
def exchange(pes: int = PES, pes_a_node: int = PES_A_NODE, iterations: int = 4, seed: int = 1) -> Exchange:
    """Simulates so many iterations. Raises InvalidArgument below 2 PEs, and below 1 a node or iteration."""
    if pes < 2 or pes_a_node < 1 or iterations < 1:
        raise InvalidArgument(f"{pes} PEs, {pes_a_node} a node, {iterations} iterations: 2, 1 and 1 at least")
    chance = random.Random(seed)
    sent = fetched = 0.0
    for _ in range(iterations):
        places: list[list[_Request]] = []
        texts: list[list[_Request]] = [[] for _ in range(pes)]
        for pe in range(pes):
            others = [peer + (peer >= pe) for peer in chance.sample(range(pes - 1), letters(pes))]
            places.append([(peer // pes_a_node, _REQUESTS.occupied) for peer in others])
            for peer in others:
                length = _NOTICES.occupied + chance.randint(1, LONGEST) / _BYTES_A_US
                texts[peer].append((pe // pes_a_node, length))
        sent += last_us(places, LETTER_US + _NOTICES.o)
        fetched += last_us(texts, 0.0)
    return Exchange(sent / iterations, fetched / iterations, shmem.barrier_us(_NOTICES, pes, pes_a_node))


#: The card that is asked, and how long that occupies it.
_Request = tuple[int, float]


def last_us(requests: Sequence[Sequence[_Request]], before_us: float) -> float:
    """When the last PE has all its answers, where each begins at 0 and makes its own requests one by one.

    `before_us` is its own time before each of them.
    """
    ask = before_us + _REQUESTS.o + _REQUESTS.L
    answer = _REQUESTS.L + _REQUESTS.o
    arriving = [(ask, pe, 0) for pe, own in enumerate(requests) if own]
    heapq.heapify(arriving)
    free: dict[int, float] = {}
    last = 0.0
    while arriving:
        now, pe, number = heapq.heappop(arriving)
        card, occupied = requests[pe][number]
        free[card] = max(now, free.get(card, 0.0)) + occupied
        answered = free[card] + answer
        last = max(last, answered)
        if number + 1 < len(requests[pe]):
            heapq.heappush(arriving, (answered + ask, pe, number + 1))
    return last


@dataclass(frozen=True)
class Modelled:
    """An experiment of the paper in the model."""

    experiment: str
    barrier_us: float  #: the split barrier alone
    seconds: float  #: 1000 iterations
    published_s: float | None  #: where the PEs are as many as in the paper


def table(pes: int = PES, pes_a_node: int = PES_A_NODE) -> list[Modelled]:
    """The experiments. The processor of a PE fetches letters and moves its barrier on, so both times add."""
    published = shmem_published.published() if (pes, pes_a_node) == (PES, PES_A_NODE) else {}
    rest_us = exchange(pes, pes_a_node).all_us
    rows = []
    for experiment, signal in shmem.SIGNALS.items():
        alone = shmem.barrier_us(signal, pes, pes_a_node)
        seconds = (rest_us + alone) * ITERATIONS / 1e6
        rows.append(Modelled(experiment, alone, seconds, published.get(experiment)))
    return rows

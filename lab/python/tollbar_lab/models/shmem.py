# SPDX-License-Identifier: Apache-2.0
"""Costs of the split-mode paper's experiments in the model: the same plan, other signals.

The plan is dissemination of the catalogue, priced by LogP. The parameters that tell the signals apart: what a
PE's processor spends on one (o), how long the network card of a node is occupied by one, whether
somebody waits until it is done, and whether counters have to be taken back afterwards. The PEs of a
node signal at about one time and share its card, so a PE can send once every `PES_A_NODE`
occupations: that is LogP's g.

Four of the paper's rows fix four costs here, and a fifth one that of a letter (exchange.py); each is
named beside its value. The other rows follow. o and L of a put are of the size of what such cards were
known for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import tollbar

from tollbar_lab.models.shmem_published import PES, PES_A_NODE

PLAN = "dissemination"


@dataclass(frozen=True)
class Signal:
    """The costs of one signal, in microseconds."""

    o: float  #: processor time of a PE, at either end
    L: float  #: from card to card
    occupied: float  #: time of the card of a node
    taken_back: bool = False  #: counters: as many updates of one's own memory, by the card too
    outstanding: int | None = None  #: waits for those under way whenever there are so many
    waiting: float = 0.0  #: what such a wait takes


_PUT = Signal(o=0.3, L=1.3, occupied=0.03)
_MESSAGE = Signal(o=3.6, L=1.3, occupied=0.03)  # row "MPI_Ibarrier()": two-sided, matched and progressed
_AMO64 = Signal(o=0.3, L=1.3, occupied=0.4275, taken_back=True)  # row "64-bit AMOs"
_AMO32 = Signal(o=0.3, L=1.3, occupied=2.182, taken_back=True)  # row "32-bit AMOs": they "require special tricks"
_WAITING = 1.26  # row "Non-blocking 64-bit AMO"


def _posted(outstanding: int) -> Signal:
    return Signal(_AMO64.o, _AMO64.L, _AMO64.occupied, True, outstanding, _WAITING)


#: By experiment. The engine looks at the same slots as test does, and everybody tests all the time.
SIGNALS: Mapping[str, Signal] = {
    "MPI_Ibarrier()": _MESSAGE,
    "32-bit AMOs": _AMO32,
    "64-bit AMOs": _AMO64,
    "Non-blocking 64-bit AMO": _posted(1),
    "2 asynchronous 64-bit AMOs": _posted(2),
    "4 asynchronous 64-bit AMOs": _posted(4),
    "64-bit Puts": _PUT,
    "Progress engine integration": _PUT,
}


def barrier_us(signal: Signal, pes: int = PES, pes_a_node: int = PES_A_NODE) -> float:
    """The price of the plan with such signals, and what follows the last of them."""
    plan = tollbar.plan(PLAN, pes)
    gap = max(signal.o, signal.occupied * min(pes, pes_a_node))
    priced = tollbar.price(plan, tollbar.LogP(L=signal.L, o=signal.o, g=gap))
    rounds = (pes - 1).bit_length()
    sent = rounds * (2 if signal.taken_back else 1)
    back = rounds * gap if signal.taken_back else 0.0
    waits = 0.0 if signal.outstanding is None else sent / signal.outstanding * signal.waiting
    return priced.last_us + back + waits

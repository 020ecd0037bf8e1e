# SPDX-License-Identifier: Apache-2.0
"""Neighbours: who else wants the CPUs while threads are measured; how options, results and pages say it."""

from __future__ import annotations

from typing import NamedTuple


class Neighbours(NamedTuple):
    """One kind of neighbours: as results have it, and in words."""

    stored: str
    words: str


#: A program without neighbours that is put before all others: the usual way to measure.
FIRST = "alone"
#: By the value of `--beside`, in the order of tables. The programs of such a run are plain ones: nothing puts them
#: before others.
NEIGHBOURS = {
    "alone": Neighbours("plain", "alone"),
    "neighbour": Neighbours("1 neighbour", "beside a busy neighbour"),
    "neighbours": Neighbours("2 neighbours", "beside two busy neighbours"),
    "session": Neighbours("1 neighbour in another session", "beside one in another session"),
    "cgroup": Neighbours("1 neighbour in another cgroup", "beside one in another control group"),
    "quota": Neighbours("a quota of 1.5 CPUs", "under a quota of 1.5 CPUs"),
}
#: Nobody, as results have it: before all others or not.
ALONE = (FIRST, NEIGHBOURS["alone"].stored)
#: The order of what is stored.
ORDER = (FIRST, *(known.stored for known in NEIGHBOURS.values()))
_WORDS = {known.stored: known.words for known in NEIGHBOURS.values()}


def in_words(stored: str) -> str:
    """The words for neighbours as results have them."""
    return _WORDS.get(stored, stored)


def place(stored: str) -> int:
    """Its place in the order of tables; what is unknown comes last."""
    return ORDER.index(stored) if stored in ORDER else len(ORDER)

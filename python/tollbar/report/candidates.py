# SPDX-License-Identifier: Apache-2.0
"""The barriers as figures show them: one colour each in every figure, as candidates.toml has it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

_KNOWN: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("candidates.toml").read_text(encoding="utf-8")
)["candidates"]
#: Ten colours, and the same dashed.
STYLES = 20

#: What users of threads have today, in the order of the tables.
PEERS = tuple(name for name, about in _KNOWN.items() if about.get("today") == "threads")


def colour(label: str) -> int:
    """The colour of that barrier, by the longest name that it begins with; from 10 on, dashed."""
    own = known(label)
    return crc32(label.encode()) % STYLES if own is None else own


def colours(labels: Iterable[str]) -> dict[str, int]:
    """The colours of one figure: who comes later and has that of an earlier one takes one that is free."""
    wanted = {label: colour(label) for label in labels}
    taken: dict[str, int] = {}
    for label, own in wanted.items():
        if own not in taken.values():
            taken[label] = own
    free = iter([free_colour for free_colour in range(STYLES) if free_colour not in taken.values()])
    return {label: taken[label] if label in taken else next(free, wanted[label]) for label in wanted}


def known(label: str) -> int | None:
    """The colour of that barrier in every figure, as colour() has it; None for what is no barrier."""
    fits = [name for name in _KNOWN if re.match(rf"{re.escape(name)}(?!\w)", label)]
    return _KNOWN[max(fits, key=len)]["colour"] if fits else None

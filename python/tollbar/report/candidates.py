# SPDX-License-Identifier: Apache-2.0
"""The barriers as figures show them: one colour each in every figure, as candidates.toml has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zlib import crc32

from tollbar.backports import read_toml

_KNOWN: dict[str, dict[str, Any]] = read_toml(Path(__file__).with_name("candidates.toml"))["candidates"]
#: Ten colours, and the same dashed.
STYLES = 20

#: Barriers that users of threads have today, in the order of the tables.
PEERS = tuple(name for name, about in _KNOWN.items() if about.get("today") == "threads")


def colour(label: str, otherwise: int | None = None) -> int:
    """The colour of that barrier, by the longest name that it begins with; from 10 on, dashed.

    A row that is no barrier has the colour `otherwise`, or one of its own.
    """
    fits = [name for name in _KNOWN if re.match(rf"{re.escape(name)}(?!\w)", label)]
    if fits:
        return _KNOWN[max(fits, key=len)]["colour"]
    return crc32(label.encode()) % STYLES if otherwise is None else otherwise

# SPDX-License-Identifier: Apache-2.0
"""How much `tollbar bench` is to measure."""

from __future__ import annotations

from typing import Any

from tollbar.cli import arguments

EFFORTS = ("quick", "usual", "full")
_NAME = arguments.one_of(EFFORTS)
_COUNT = arguments.number(int, 1, what="number")
#: The parts of an effort that may be changed.
_KEYS: dict[str, arguments.Reader] = {
    "launches": _COUNT,
    "rounds": _COUNT,
    "runs": _COUNT,
    "episodes": _COUNT,
    "budget": arguments.number(float, arguments.ABOVE_0, what="number of seconds"),
    "seed": arguments.number(int, 0, 2**31, "whole number"),
}
CHANGES = ", ".join(f"{key}=" for key in _KEYS)  #: as the help has them
_FIELDS = {"budget": "budget_s"}  #: their names in campaigns, where those differ


def effort(text: str) -> dict[str, Any]:
    """`quick`, or `usual,launches=2,budget=30`: the name of an amount, and what of it is to be otherwise."""
    first, _, rest = text.partition(",")
    name, changes = ("usual", text) if "=" in first else (_NAME(first), rest)
    changed = arguments.pairs(_KEYS)(changes) if changes else {}
    return {"name": name, "changed": {_FIELDS.get(key, key): value for key, value in changed.items()}}

# SPDX-License-Identifier: Apache-2.0
"""How `tollbar bench` reads numbers, and how much it is to measure."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import Any


def _numbers(text: str, kind: type, accepts: Callable[[Any], bool], meaning: str) -> tuple[Any, ...]:
    """The words between commas, each once."""
    found = []
    for part in text.split(","):
        try:
            number = kind(part)
        except ValueError:
            number = math.nan
        if not accepts(number):
            raise argparse.ArgumentTypeError(f"'{part}' is not {meaning}")
        found.append(number)
    return tuple(dict.fromkeys(found))


def counts(least: int, most: int, what: str) -> Callable[[str], tuple[int, ...]]:
    meaning = f"a number of {what} from {least} to {most}"
    return lambda text: _numbers(text, int, lambda number: least <= number <= most, meaning)


def one(least: float, most: float, kind: type, meaning: str) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        (number, *more) = _numbers(text, kind, lambda number: least <= number <= most, meaning)
        if more:
            raise argparse.ArgumentTypeError(f"'{text}' is not {meaning}")
        return number

    return read


EFFORTS = ("quick", "usual", "full")
#: Settings of an effort besides its name: how it is read, and its name in campaigns.
_AMOUNTS: dict[str, tuple[Callable[[str], Any], str]] = {
    "launches": (one(1, 1e6, int, "a whole number, at least 1"), "launches"),
    "rounds": (one(1, 1e6, int, "a whole number, at least 1"), "rounds"),
    "runs": (one(1, 1e6, int, "a whole number, at least 1"), "runs"),
    "budget": (one(1e-3, 1e6, float, "a number of seconds above 0"), "budget_s"),
    "seed": (one(0, 2**31, int, "a whole number, at least 0"), "seed"),
}


def effort(text: str) -> dict[str, Any]:
    """`quick`, or `usual,launches=2,budget=30`: the name of an amount, and what of it is to be otherwise."""
    name, *changes = text.split(",") if "=" not in text.partition(",")[0] else ["usual", *text.split(",")]
    if name not in EFFORTS:
        raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(EFFORTS)}")
    changed = {}
    for change in changes:
        key, _, value = change.partition("=")
        if key not in _AMOUNTS:
            raise argparse.ArgumentTypeError(f"'{key}' is not one of {', '.join(_AMOUNTS)}")
        reads, field = _AMOUNTS[key]
        changed[field] = reads(value)
    return {"name": name, "changed": changed}

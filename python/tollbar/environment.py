# SPDX-License-Identifier: Apache-2.0
"""The TOLLBAR_ variables: what they accept, and one line on stderr for a value that is not accepted."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TextIO

from tollbar import _native

WAITS = ("auto", "spin", "yield", "park")
NETWORKS = ("auto", "p2p", "nic")


def _without_card(value: str) -> str:
    """A plan whose part between hosts is for network cards, /card or /card:SHAPE, spelled without them."""
    before, card, shape = value.partition("/card")
    if not card or (shape and not shape.startswith(":")):
        return value
    return f"{before}/{'pairwise' if shape in ('', ':gather', ':switch') else shape[1:]}"


def _is_plan(value: str) -> bool:
    value = _without_card(value)
    name, _, processors = value.partition(":")
    if value == "turnstile" or (name == "combination" and (value == name or _is_count(processors))):
        return True
    try:  # between processes there is turnstile/OUTER: a word on each node, OUTER between the nodes
        _native.plan(value.removeprefix("turnstile/"), 2)
    except ValueError:
        return False
    return True


def _is_count(value: str) -> bool:
    return value.isascii() and value.isdigit() and int(value) > 0


def _is_seconds(value: str) -> bool:
    try:
        return math.isfinite(float(value)) and float(value) >= 0
    except ValueError:
        return False


def _is_anything(_: str) -> bool:
    return True


@dataclass(frozen=True)
class Variable:
    """One TOLLBAR_ variable: what it accepts, in words and as a test, and what stands in for the rest."""

    name: str
    accepted: str
    default: str
    accepts: Callable[[str], bool] = _is_anything

    def complaint(self, value: str) -> str | None:
        """One line saying that the value is not accepted; None when it is."""
        if self.accepts(value):
            return None
        wrong = f"{self.name}='{value}' is not accepted ({self.accepted})"
        return f"{wrong}; taking the default, {self.default}"


VARIABLES = (
    Variable(
        "TOLLBAR_PLAN",
        "a plan like mcs:4,2 (see `tollbar plans`), turnstile[/PLAN], turnstile/card[:PLAN], combination[:C]",
        "the tuned choice",
        _is_plan,
    ),
    Variable("TOLLBAR_WAIT", "|".join(WAITS), "auto", WAITS.__contains__),
    Variable("TOLLBAR_NETWORK", "|".join(NETWORKS), "auto", NETWORKS.__contains__),
    Variable("TOLLBAR_TIMEOUT", "seconds, at least 0", "no time-out", _is_seconds),
    Variable("TOLLBAR_TUNING", "a file", "tollbar/tuning in the cache folder"),
    Variable("TOLLBAR_REPORT", "a file, or - for stderr", "no report"),
    Variable("TOLLBAR_RESULTS", "a folder", "build/results of the checkout, or results in the cache folder"),
    Variable("TOLLBAR_VERBOSE", "anything", "silent"),
    Variable("TOLLBAR_NICD", "the socket of the card's daemon", "/run/tollbar/nicd.sock"),
    Variable("TOLLBAR_BUILD", "a build folder", "the installed programs"),
)


def complaints(environment: Mapping[str, str] = os.environ) -> list[tuple[str, str]]:
    """(variable, what is wrong) for each TOLLBAR_ variable that is unknown or has an unknown value."""
    known = {variable.name: variable for variable in VARIABLES}
    found = []
    for name in sorted(name for name in environment if name.startswith("TOLLBAR_")):
        if name not in known:
            found.append((name, f"{name} is not a variable of tollbar; there are {', '.join(known)}"))
        elif environment[name] and (complaint := known[name].complaint(environment[name])):
            found.append((name, complaint))
    return found


def warn_about_unknown_values(out: TextIO, environment: Mapping[str, str] = os.environ) -> None:
    """One line each on `out`; nobody's program is stopped for a misspelled variable."""
    for _, complaint in complaints(environment):
        print(f"tollbar: {' '.join(complaint.split())}", file=out)


def value(name: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The variable's value; None when it is unset, empty or not accepted, so that the default is taken."""
    variable = next(variable for variable in VARIABLES if variable.name == name)
    given = environment.get(name) or None
    return given if given and variable.accepts(given) else None

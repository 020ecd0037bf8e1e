# SPDX-License-Identifier: Apache-2.0
"""Machines whose caches are simulated: built in, or measured with `tollbar bench cores` and stored.

A file is JSON: `"tollbar": "cores 1"`, a name, [cluster, socket] of each core, the numbers of
tollbar_lab.CoresMachine, and under "measured" what they were taken from.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tollbar
from tollbar import InvalidArgument

import tollbar_lab

#: The first line of a file says what it is.
FORMAT = "cores 1"

#: Barriers that ask for no parameter: ours, then what users have today.
CANDIDATES = (
    "tollbar::barrier", "auto", "turnstile", "dissemination", "pairwise", "mcs", "tournament", "combining",
    "combination", *(tollbar_lab.cores_peers if tollbar.native_problem is None else ()),
)  # fmt: skip


#: The least part of a transfer in which a line is busy, as on Graviton2. Contended additions take less
#: where a core keeps the line for several of its own, which the model does not have.
LEAST_BUSY = 0.2


def machine(spelling: str) -> tollbar_lab.CoresMachine:
    """A machine that is built in, or one from a file. Raises InvalidArgument that says what there is."""
    if spelling in tollbar_lab.cores_machines:
        return tollbar_lab.cores_machine(spelling)
    path = Path(spelling)
    if not path.is_file():
        known = ", ".join(tollbar_lab.cores_machines)
        raise InvalidArgument(f"there is no machine and no file '{spelling}'; there are {known}")
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidArgument(f"{path} is no machine of `tollbar bench cores`: {error}") from None


def from_json(data: Mapping[str, Any]) -> tollbar_lab.CoresMachine:
    if data.get("tollbar") != FORMAT:
        raise InvalidArgument(f'it does not say "tollbar": "{FORMAT}"')
    return tollbar_lab.cores_machine("mesh").changed(
        name=str(data["name"]),
        cores=[(int(cluster), int(socket)) for cluster, socket in data["cores"]],
        numbers={str(key): float(value) for key, value in data["numbers"].items()},
        clusters_cache=bool(data["clusters_cache"]),
    )


def to_json(machine: tollbar_lab.CoresMachine, measured: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tollbar": FORMAT,
        "name": machine.name,
        "clusters_cache": machine.clusters_cache,
        "numbers": machine.numbers,
        "cores": [list(place) for place in machine.cores],
        "measured": dict(measured),
    }


def line_ns_for(machine: tollbar_lab.CoresMachine, key: str, pair: tuple[int, int], one_way_ns: float) -> float:
    """The value of `key` with which a line takes `one_way_ns` between the pair of cores."""
    low, high = 0.5, 4 * one_way_ns
    for _ in range(40):
        middle = (low + high) / 2
        tried = machine.changed(numbers={key: middle})
        low, high = (low, middle) if tollbar_lab.cores_one_way_ns(tried, *pair) > one_way_ns else (middle, high)
    return (low + high) / 2


def busy_for(machine: tollbar_lab.CoresMachine, threads: int, add_ns: float) -> float:
    """The part of a transfer in which the line is busy, so that contended additions take `add_ns`."""
    low, high = LEAST_BUSY, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        slower = tollbar_lab.cores_contended_add_ns(machine.changed(numbers={"busy": middle}), threads) > add_ns
        low, high = (low, middle) if slower else (middle, high)
    return (low + high) / 2


def logp(machine: tollbar_lab.CoresMachine, ranks: int, adding: int = 0) -> tollbar.LogP:
    """The costs of a cache line between the farthest of the first `ranks` cores, in microseconds.

    g is an access to a line of one's own, or what an addition takes where `adding` cores add to one word at
    once. Raises InvalidArgument where the machine has fewer cores.
    """
    if ranks > len(machine.cores):
        raise InvalidArgument(f"{machine.name} has {len(machine.cores)} cores, not {ranks}")
    own_ns = machine.numbers["add_ns"]
    g_ns = tollbar_lab.cores_contended_add_ns(machine, adding) if adding > 1 else own_ns
    line_ns = tollbar_lab.cores_one_way_ns(machine, 0, ranks - 1) if ranks > 1 else own_ns
    return tollbar.LogP(L=max(line_ns - 2 * own_ns, 0) / 1000, o=own_ns / 1000, g=g_ns / 1000)


def sharers(plan: tollbar.Plan) -> int:
    """The members that add to the word of a role, of the role that has most; 0 without roles."""
    words = (itertools.takewhile(lambda step: step.startswith("?"), plan.program(role)) for role in plan.roles)
    return max((len(list(word)) for word in words), default=0)

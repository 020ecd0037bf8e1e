# SPDX-License-Identifier: Apache-2.0
"""Parts of all stand-ins for measuring programs: records as schema.json has them, and launches of them.

They run without the package, as programs do, so this reads the schema itself."""

import json
import math
import random
from pathlib import Path

_SCHEMA = json.loads((Path(__file__).parents[2] / "python/tollbar/data/schema.json").read_text())["records"]
#: A field that a test says nothing of, by its type's name.
_PLAIN = {"int": 0, "float": 0.0, "str": "auto", "bool": False}

#: Processors of the machine that is made up.
USABLE = 2


def record(kind: str, /, **fields: object) -> dict:
    """One record; the fields that it must have and that are not given are 0, "auto" or false."""
    needed = {name: type for name, type in _SCHEMA[kind]["fields"].items() if not type.endswith("?")}
    plain = {name: _PLAIN[type] for name, type in needed.items() if name not in fields and type in _PLAIN}
    return {"record": kind} | plain | fields


def environment(ranks: int, **more: object) -> dict:
    return record("environment", ranks=ranks, usable=USABLE, **{"placement": "free", "cpus": USABLE} | more)


def floor_ns(ranks: int, one_way: float, switch: float) -> float:
    """The time below which a barrier of so many ranks cannot go."""
    return one_way if ranks <= USABLE else (math.ceil(ranks / USABLE) - 1) * switch


def noise(chance: random.Random, share: float = 0.02) -> float:
    return math.exp(chance.gauss(0, share))


def floor(number: int, one_way: float, switch: float) -> dict:
    """One round; a message there and back takes twice as long as one."""
    return record("floor", round=number, one_way_ns=one_way, yield_switch_ns=switch, exchange_ns=2 * one_way)


def measured(
    label: dict, episodes: int, period: float, latency: list[float], skew: list[float], span: list[float]
) -> list[dict]:
    """The records of a barrier in a round: a batch, stamped episodes, and isolated ones."""
    elapsed = episodes * period
    stamped = label | {"latency_ns": latency, "skew_ns": skew, "span_ns": span}
    return [
        record("batch", episodes=episodes, elapsed_ns=elapsed, cpu_ns=elapsed, **label),
        record("episodes", **stamped),
        record("isolated", **stamped),
    ]


def text(records: list[dict]) -> str:
    """The lines of a launch, up to the record that ends it."""
    done = [] if records[-1]["record"] == "done" else [record("done")]
    return "".join(json.dumps(each) + "\n" for each in [*records, *done])

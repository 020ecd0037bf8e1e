# SPDX-License-Identifier: Apache-2.0
"""Makes up stored runs of `tollbar bench mpi` and `bench hybrid` whose times follow the LogP model."""

from __future__ import annotations

import json
import math
import random

import tollbar

USABLE = 2
PLANS = ("mcs", "dissemination", "central", "combining:2", "combining:4", "tournament")
ONE_WAY_NS = 3e3  # 2 o + L, in equal parts


def latency_ns(name: str, ranks: int) -> float:
    """What LogP says, or for the peer twice dissemination."""
    if name == "openmpi":
        return 2 * latency_ns("dissemination", ranks)
    third = ONE_WAY_NS / 3
    price = tollbar.price(tollbar.plan(name, ranks), tollbar.LogP(L=third, o=third, g=third))
    return max(price.last_us, price.messages * 2 * third / USABLE if ranks > USABLE else 0.0)


def ranks_launch(ranks: int, hosts: int, seed: int, mpi: str = "openmpi") -> str:
    """One launch of so many ranks; hosts is 1, or a host for each."""
    chance = random.Random(f"{ranks} {hosts} {seed}")
    far = 1.0 if hosts == 1 else 20.0
    made = [_environment(ranks, seed, mpi=mpi, hosts=hosts)]
    for number in range(3):
        made.append({"record": "floor", "round": number, "one_way_ns": 30, "yield_switch_ns": 1400,
                     "exchange_ns": 60})  # fmt: skip
        for name in (*PLANS, mpi):
            kind = "peer" if name == mpi else "plan"
            made += _measured(
                chance, number, name, kind, far * latency_ns("openmpi" if kind == "peer" else name, ranks)
            )
    return _text(made)


def threads_launch(ranks: int, threads: int, seed: int, mpi: str = "openmpi") -> str:
    """One launch of ranks with threads: linear in both, as in the paper."""
    chance = random.Random(f"{ranks} {threads} {seed}")
    made = [_environment(ranks, seed, mpi=mpi, hosts=1, threads=threads)]
    for number in range(2):
        for name, factor in (("turnstile/dissemination", 1.0), ("turnstile/mcs", 1.1)):
            made += _measured(chance, number, name, "combination", factor * 1e3 * ranks * threads)
    return _text(made)


def _environment(ranks: int, seed: int, **more: object) -> dict:
    return {"record": "environment", "cpus": USABLE, "usable": USABLE, "model": "Replay", "kernel": "none",
            "ranks": ranks, "placement": "free", "seed": seed} | more  # fmt: skip


def _measured(chance: random.Random, number: int, name: str, kind: str, period: float) -> list[dict]:
    label = {"round": number, "name": name, "kind": kind, "wait": "auto"}
    noisy = [period * math.exp(chance.gauss(0, 0.02)) for _ in range(20)]
    batch = label | {"episodes": 100, "elapsed_ns": 100 * period, "cpu_ns": 100 * period, "voluntary": 0,
                     "involuntary": 0, "cut": False}  # fmt: skip
    stamped = label | {"latency_ns": noisy, "skew_ns": [0.5 * each for each in noisy], "span_ns": noisy}
    return [{"record": "batch"} | batch, {"record": "episodes"} | stamped]


def _text(made: list[dict]) -> str:
    return "".join(json.dumps(record) + "\n" for record in [*made, {"record": "done"}])

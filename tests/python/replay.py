# SPDX-License-Identifier: Apache-2.0
"""Stands in for a measuring program: takes its arguments, prints its records; the seed makes the times."""

from __future__ import annotations

import argparse
import json
import math
import random
import sys

USABLE = 2
#: name, kind, wait, period over the floor with processors to spare, the same when crowded
BARRIERS = {
    "tollbar-bench-threads": [
        ("tollbar::barrier", "barrier", "auto", 1.05, 1.12),
        ("turnstile", "turnstile", "auto", 1.0, 1.12),
        ("turnstile", "turnstile", "spin", 0.9, 0.5),
        ("turnstile", "turnstile", "park", 1.05, 2.3),
        ("combination", "combination", "auto", 1.5, 1.03),
        ("mcs", "plan", "auto", 2.0, 1.8),
        ("tournament", "plan", "auto", 2.0, 1.9),
        ("dissemination", "plan", "auto", 1.3, 1.4),
        ("std::barrier", "peer", "auto", 20.0, 1.7),
        ("pthread_barrier", "peer", "auto", 90.0, 6.0),
    ],
    "tollbar-bench-omp-gomp": [("libgomp", "peer", "auto", 5.0, 8.0)],
    "tollbar-bench-omp-omp": [("libomp", "peer", "auto", 4.0, 4.0)],
}


def records(program: str, ranks: int, placement: str, rounds: int, seed: int, only: str = "") -> list[dict]:
    """What the program of that name would print."""
    chance = random.Random(f"{program} {ranks} {placement} {seed}")
    wanted = [row for row in BARRIERS[program] if not only or row[0] in only.split(",")]
    far = chance.choice([1, 6])  # where the virtual processors of this process lie
    made = [{"record": "environment", "cpus": USABLE, "usable": USABLE, "model": "Replay", "kernel": "none",
             "compiler": "none", "ranks": ranks, "placement": placement, "seed": seed}]  # fmt: skip
    for number in range(rounds):
        one_way, switch = 27.0 * far * _noise(chance), 1450.0 * _noise(chance)
        made.append({"record": "floor", "round": number, "one_way_ns": one_way, "yield_switch_ns": switch,
                     "exchange_ns": 1.7 * one_way})  # fmt: skip
        floor = one_way if ranks <= USABLE else (math.ceil(ranks / USABLE) - 1) * switch
        for name, kind, wait, spare, crowded in wanted:
            period = floor * (spare if ranks <= USABLE else crowded) * _noise(chance)
            made += _measured(chance, number, {"name": name, "kind": kind, "wait": wait}, period, ranks)
    made.append({"record": "skipped", "name": "ck_mcs", "why": "spins"})
    return [*made, {"record": "done"}]


def _measured(chance: random.Random, number: int, label: dict, period: float, ranks: int) -> list[dict]:
    episodes, switches = 400, max(0, ranks - USABLE)
    batch = {"record": "batch", "round": number} | label
    batch |= {"episodes": episodes, "elapsed_ns": episodes * period, "cpu_ns": 2 * episodes * period}
    batch |= {"voluntary": 0, "involuntary": episodes * switches, "cut": False}
    slow = 15.0 if label["name"] == "std::barrier" else 1.0
    latency = [period * _noise(chance) * chance.choice([1.0, 1.0, slow]) for _ in range(40)]
    stamped = {"record": "episodes", "round": number} | label
    stamped |= {"latency_ns": latency}
    stamped |= {"skew_ns": [0.5 * each for each in latency], "span_ns": [1.2 * each for each in latency]}
    return [batch, stamped]


def _noise(chance: random.Random) -> float:
    return math.exp(chance.gauss(0, 0.02))


def text(*arguments: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records(*arguments))


def main(program: str, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--placement", choices=("pinned", "free"), required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(words)
    sys.stdout.write(text(program, args.ranks, args.placement, args.rounds, args.seed, args.only))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

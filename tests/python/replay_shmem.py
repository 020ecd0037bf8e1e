# SPDX-License-Identifier: Apache-2.0
"""Stands in for the programs that measure an OpenSHMEM: prints what they would, with known times."""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys

USABLE, SWITCH_NS, PAIR_NS = 2, 1400.0, 60.0
#: Name, wait, and what it takes in the exchange and back to back, over dissemination with puts.
BARRIERS = [
    ("MPI_Ibarrier", "auto", 2.0, 4.0),
    ("shmem_barrier_all", "auto", 1.25, 2.0),
    ("default", "auto", 1.0, 1.0),
    ("dissemination", "puts", 1.0, 1.0),
    ("dissemination", "amo64", 1.5, 2.0),
    ("dissemination", "amo32", 3.0, 5.0),
    ("one-shot", "puts", 0.9, 0.9),
]
NBX = ("MPI NBX", "auto", 2.0, 0.0)
SKIPPED = {"record": "skipped", "name": "dissemination+engine", "wait": "auto", "why": "no engine here"}


def main(program: str, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    for flag in ("--rounds", "--seed"):
        parser.add_argument(flag, type=int, required=True)
    for flag in ("--away-ms", "--skew-us", "--iterations"):
        parser.add_argument(flag, type=int, default=0)
    parser.add_argument("--placement", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args(words)
    pes, chance = int(os.environ["PES"]), random.Random(args.seed)
    environment = {"record": "environment", "cpus": USABLE, "usable": USABLE, "ranks": pes, "seed": args.seed,
                   "placement": args.placement, "mpi": "Open MPI 4.1.4", "shmem": "replay",
                   "tuning": os.environ["TOLLBAR_TUNING"]}  # fmt: skip
    made = exchange(args, pes, chance) if program.endswith("dsde") else barriers(args, pes, chance)
    for record in [environment, *made, {"record": "done"}]:
        print(json.dumps(record))


def wanted(args: argparse.Namespace, *more: tuple) -> list[tuple]:
    only = args.only.split(",") if args.only else []
    return [each for each in (*BARRIERS, *more) if not only or each[0] in only]


def noisy(value: float, chance: random.Random) -> float:
    return value * math.exp(chance.gauss(0, 0.005))


def label_of(name: str, wait: str, number: int = 0) -> dict:
    return {"round": number, "name": name, "kind": "split", "wait": wait}


def exchange(args: argparse.Namespace, pes: int, chance: random.Random) -> list[dict]:
    made = [SKIPPED]
    for number in range(args.rounds):
        for name, wait, times, _ in wanted(args, NBX):
            elapsed = noisy(1e3 * pes * times * args.iterations, chance)
            made.append({"record": "dsde", "iterations": args.iterations, "elapsed_ns": elapsed, "letters": 5}
                        | label_of(name, wait, number))  # fmt: skip
    return made


def barriers(args: argparse.Namespace, pes: int, chance: random.Random) -> list[dict]:
    floor = PAIR_NS if pes <= USABLE else (math.ceil(pes / USABLE) - 1) * SWITCH_NS
    made = [SKIPPED]
    for name, wait, _, _ in wanted(args):
        label = label_of(name, wait)
        if args.away_ms:
            released = 5e4 if name in ("default", "one-shot") else 1e6 * args.away_ms
            made.append(
                {"record": "away", "away_ns": 1e6 * args.away_ms, "released_ns": [released] * 3} | label
            )
        if args.skew_us:
            made.append({"record": "overlap", "skew_ns": 1e3 * args.skew_us, "open_ns": [1e6, 2e6, 1e6],
                         "inside_ns": [1e5, 2e5, 9e5]} | label)  # fmt: skip
    for number in range(args.rounds):
        made.append({"record": "floor", "round": number, "one_way_ns": PAIR_NS, "exchange_ns": 2 * PAIR_NS,
                     "yield_switch_ns": SWITCH_NS})  # fmt: skip
        for name, wait, _, times in wanted(args):
            made.append({"record": "batch", "episodes": 10, "elapsed_ns": noisy(10 * floor * times, chance),
                         "cpu_ns": 1.0, "voluntary": 0, "involuntary": 0, "cut": False}
                        | label_of(name, wait, number))  # fmt: skip
    return made


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

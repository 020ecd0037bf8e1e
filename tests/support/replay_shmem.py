# SPDX-License-Identifier: Apache-2.0
"""Stands in for the programs that measure an OpenSHMEM: prints what they would, with known times."""

import argparse
import os
import random
import sys

import fake_program
from fake_program import record

SWITCH_NS, PAIR_NS = 1400.0, 60.0
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
SKIPPED = record("skipped", name="dissemination+engine", wait="auto", why="no engine here")


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
    facts = {"seed": args.seed, "placement": args.placement, "mpi": "Open MPI 4.1.4", "shmem": "replay"}
    made = exchange(args, pes, chance) if program.endswith("dsde") else barriers(args, pes, chance)
    environment = fake_program.environment(pes, **facts, tuning=os.environ["TOLLBAR_TUNING"])
    sys.stdout.write(fake_program.text([environment, *made]))


def wanted(args: argparse.Namespace, *more: tuple) -> list[tuple]:
    only = args.only.split(",") if args.only else []
    return [each for each in (*BARRIERS, *more) if not only or each[0] in only]


def label_of(name: str, wait: str, number: int = 0) -> dict:
    return {"round": number, "name": name, "kind": "split", "wait": wait}


def exchange(args: argparse.Namespace, pes: int, chance: random.Random) -> list[dict]:
    made = [SKIPPED]
    for number in range(args.rounds):
        for name, wait, times, _ in wanted(args, NBX):
            elapsed = 1e3 * pes * times * args.iterations * fake_program.noise(chance, 0.005)
            counted = {"iterations": args.iterations, "elapsed_ns": elapsed, "letters": 5}
            made.append(record("dsde", **counted, **label_of(name, wait, number)))
    return made


def barriers(args: argparse.Namespace, pes: int, chance: random.Random) -> list[dict]:
    floor = fake_program.floor_ns(pes, PAIR_NS, SWITCH_NS)
    made = [SKIPPED]
    for name, wait, _, _ in wanted(args):
        label = label_of(name, wait)
        if args.away_ms:
            away = 1e6 * args.away_ms
            released = 5e4 if name in ("default", "one-shot") else away
            made.append(record("away", away_ns=away, released_ns=[released] * 3, **label))
        if args.skew_us:
            opened = {"open_ns": [1e6, 2e6, 1e6], "inside_ns": [1e5, 2e5, 9e5]}
            made.append(record("overlap", skew_ns=1e3 * args.skew_us, **opened, **label))
    for number in range(args.rounds):
        made.append(fake_program.floor(number, PAIR_NS, SWITCH_NS))
        for name, wait, _, times in wanted(args):
            elapsed = 10 * floor * times * fake_program.noise(chance, 0.005)
            label = label_of(name, wait, number)
            made.append(record("batch", episodes=10, elapsed_ns=elapsed, cpu_ns=1.0, **label))
    return made


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

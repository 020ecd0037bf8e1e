# SPDX-License-Identifier: Apache-2.0
"""Stands in for the program that measures crowds: prints what one would, with times known in advance."""

import argparse
import os
import sys

import fake_program

QUANTUM_NS, YIELD_NS, SLEEP_NS = 4e6, 1500.0, 2500.0
#: name, kind, wait, switches of each turn of a processor
BARRIERS = (
    ("turnstile", "turnstile", "auto", 1.0),
    ("turnstile", "turnstile", "spin", QUANTUM_NS / YIELD_NS),
    ("combination", "combination", "park", 2.0),
    ("mcs", "plan", "auto", 12.0),
    ("std::barrier", "peer", "auto", 1.2),
    ("pthread_barrier", "peer", "auto", 6.0),
)


def record(
    name: str, kind: str, wait: str, compute_us: float, variation: float, period_us: float,
    episodes: int = 100, switches: float = 16.0, busy: float = 1.0, processors: int = 1,
) -> dict:  # fmt: skip
    """One visit. Rank 0's own time of few episodes is far off, as it may be."""
    elapsed = 1e3 * period_us * episodes * (1.0 if episodes >= 20 else 0.5)
    return fake_program.record(
        "crowd", name=name, kind=kind, wait=wait, workload=f"{compute_us:g}~{variation:g}",
        compute_ns=1e3 * compute_us, variation=variation, episodes=episodes, elapsed_ns=elapsed,
        cpu_ns=busy * processors * elapsed, involuntary=round(switches * episodes), cut=False,
        period_ns=[0.9e3 * period_us, 1.1e3 * period_us],
    )  # fmt: skip


def launch(ranks: int, processors: int, visits: list[dict]) -> list[str]:
    """The lines of a launch."""
    record = fake_program.record
    quanta = [0.2 * QUANTUM_NS, QUANTUM_NS, QUANTUM_NS]
    made = [
        record("environment", ranks=ranks, usable=processors, placement="pinned"),
        record("floor", one_way_ns=None, yield_switch_ns=YIELD_NS, exchange_ns=None),
        record("scheduling", quantum_ns=quanta, sleep_switch_ns=SLEEP_NS),
        *visits,
    ]
    return fake_program.text(made).splitlines()


def visits(ranks: int, processors: int, compute_us: float, variation: float) -> list[dict]:
    turns = -(-ranks // processors)
    return [
        record(name, kind, wait, compute_us, variation, turns * (compute_us + switches * YIELD_NS / 1e3),
               switches=ranks * switches, processors=processors)
        for name, kind, wait, switches in BARRIERS
    ]  # fmt: skip


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    for flag in ("--ranks", "--rounds", "--seed", "--budget-ms"):
        parser.add_argument(flag, type=int, required=True)
    parser.add_argument("--placement", choices=("pinned",), required=True)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args(words)
    compute, _, share = args.workload.partition("~")
    usable = len(os.sched_getaffinity(0))
    measured = visits(args.ranks, usable, float(compute), float(share or 0))
    if args.only:
        measured = [each for each in measured if each["name"] in args.only.split(",")]
    print("\n".join(launch(args.ranks, usable, measured)))


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Stands in for the program that measures an MPI job: prints what one would, with known times."""

import argparse
import os
import random
import sys

import fake_program
from fake_program import record

ONE_WAY_NS, SWITCH_NS = 30.0, 1400.0
#: Loop periods over the floor.
STOCK, LINEAR, OURS, MESSAGES = 5.0, 4.0, 1.2, 3.0
APART = 1.5  #: with a control group each, times as long
INTEL_SKEW, OUR_SKEW = 2.0, 1.0  #: exit skew over the floor
SET_UP_NS = {"none": 1e5, "component": 1.1e5, "preload": 1.5e5}
MPIS = {
    "tollbar-bench-mpi-openmpi": "Open MPI 4.1.4",
    "tollbar-bench-mpi-mpich": "MPICH 4.0.2",
    "tollbar-bench-mpi-mpich5": "Intel MPI 2021.19",
}


def door() -> str:
    if "libtollbar_mpi_" in os.environ.get("LD_PRELOAD", ""):
        return "preload"
    return "component" if "OMPI_MCA_mca_base_component_path" in os.environ else "none"


def main(program: str, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    for flag in ("--rounds", "--seed", "--session-nice", "--late-ms", "--communicators"):
        parser.add_argument(flag, type=int, required=True)
    for flag in ("--setting", "--apart", "--placement"):
        parser.add_argument(flag, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--batch-us", type=int)
    args = parser.parse_args(words)
    sys.stdout.write(fake_program.text(records(program, args)))


def records(program: str, args: argparse.Namespace) -> list[dict]:
    ranks, chance = int(os.environ["RANKS"]), random.Random(args.seed)
    floor = fake_program.floor_ns(ranks, ONE_WAY_NS, SWITCH_NS)
    mine = {"name": "MPI_Barrier", "kind": "mpi" if door() == "none" else "door"}
    facts = {"seed": args.seed, "placement": args.placement, "mpi": MPIS[program], "door": door()}
    facts |= {"setting": args.setting, "apart": args.apart, "hosts": "1"}
    made = [fake_program.environment(ranks, **facts, tuning=os.environ["TOLLBAR_TUNING"])]
    if args.communicators:
        made.append(record("set_up", set_up_ns=[SET_UP_NS[door()]] * 3, **mine))
    if args.late_ms:
        waited = 1e6 * args.late_ms
        used = [(1.0 if door() == "none" else 0.005) * waited] * (ranks - 1)
        made.append(record("late", waited_ns=waited, waiter_cpu_ns=used, wake_ns=5e4, **mine))
    for number in range(args.rounds):
        made.append(fake_program.floor(number, ONE_WAY_NS, SWITCH_NS))
        for name, kind, wait, over in measured(args):
            label = {"name": name, "kind": kind, "wait": wait, "round": number}
            skew = floor * (INTEL_SKEW if MPIS[program].startswith("Intel") else OUR_SKEW)
            period = floor * over * fake_program.noise(chance, 0.01)
            visited = fake_program.measured(label, 100, period, [period] * 5, [skew] * 5, [2 * period] * 5)
            visited[0] |= {"cpu_ns": 1.0, "rank_cpu_ns": [1.0]}
            visited[1] |= {"call_ns": [period] * 5}
            made += visited
    return made


def measured(args: argparse.Namespace) -> list[tuple[str, str, str, float]]:
    """Name, kind, wait and loop period over the floor."""
    names = (args.only or "MPI_Barrier,MPI_Ibarrier,turnstile,mcs+messages").split(",")
    stock = LINEAR if args.setting == "linear" else STOCK
    apart = APART if args.apart == "cgroups" else 1.0
    found = []
    for name, _, wait in (each.partition("+") for each in names):
        if name.startswith("PMPI_") or (name.startswith("MPI_") and door() == "none"):
            kind, over = "mpi", stock
        else:
            kind, over = "door" if name.startswith("MPI_") else "plan", MESSAGES if wait else OURS
        found.append((name, kind, wait or "auto", over * apart))
    return found


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

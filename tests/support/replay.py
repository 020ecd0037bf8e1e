# SPDX-License-Identifier: Apache-2.0
"""Stands in for a measuring program: takes its arguments, prints its records; the seed makes the times."""

import argparse
import json
import os
import random
import sys

import fake_program
import replay_crowd
from fake_program import record

USABLE = fake_program.USABLE
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
        ("sense_reversing", "published", "auto", 2.5, 2.0),
        ("mcs_flags:one_line", "published", "auto", 3.0, 2.5),
        ("mcs_flags:own_lines", "published", "auto", 2.0, 2.5),
    ],
    "tollbar-bench-omp-gomp": [("libgomp", "peer", "auto", 5.0, 8.0)],
    "tollbar-bench-omp-omp": [("libomp", "peer", "auto", 4.0, 4.0)],
}
#: The same of barriers that a program has where they are named.
NAMED = {
    "tollbar-bench-threads": [
        ("sense_reversing:100ns", "published", "auto", 2.6, 2.1),
        ("sense_reversing:400ns", "published", "auto", 2.7, 2.2),
        ("sense_reversing:1600ns", "published", "auto", 3.5, 3.0),
        ("sense_reversing:doubling", "published", "auto", 2.8, 2.3),
    ]
}
#: The value that each program that measures one thing prints a round, without noise.
SINGLES = {
    "tollbar-bench-processes": [
        {"record": "processes", "name": name, "kind": kind, "wait": "auto", "apart": apart, "episodes": 100,
         "elapsed_ns": 100 * period, "cut": False}
        for name, kind, periods in (
            ("turnstile", "turnstile", (4e3, 6e3, 12e3)), ("pthread_barrier", "peer", (2e4, 2e4, 2e4)),
        )
        for apart, period in zip(("one session", "sessions", "cgroups"), periods, strict=True)
    ],
    "tollbar-bench-idle": [
        {"record": "idle", "name": name, "kind": kind, "wait": "auto", "waiters": 64, "waited_ns": 5e8,
         "cpu_ns": cpu}
        for name, kind, cpu in (
            ("turnstile", "turnstile", 5e6),
            ("tollbar::barrier", "barrier", 6e7),
            ("std::barrier", "peer", 1e8),
        )
    ],
}  # fmt: skip
PROGRAMS = (*BARRIERS, *SINGLES)
COMPANIES = {
    "alone": "alone",
    "neighbour": "1 neighbour",
    "neighbours": "2 neighbours",
    "session": "1 neighbour in another session",
    "cgroup": "1 neighbour in another cgroup",
    "quota": "a quota of 1.5 CPUs",
}
#: name+wait, kind, what a turn without computing takes alone and in any company, in microseconds
TURNS = {
    "tollbar::barrier+auto": ("barrier", 1.0, 22.0),
    "tollbar::barrier+spin": ("barrier", 0.9, 5000.0),
    "tollbar::barrier+yield": ("barrier", 1.1, 2000.0),
    "tollbar::barrier+park": ("barrier", 30.0, 20.0),
    "group+auto": ("group", 1.0, 22.0),
    "std::barrier+auto": ("peer", 5.0, 2000.0),
    "pthread_barrier+auto": ("peer", 40.0, 25.0),
    "libgomp+auto": ("peer", 10.0, 30.0),
    "libomp+auto": ("peer", 4.0, 3500.0),
    "turnstile+auto": ("turnstile", 1.0, 20.0),
    "combination+auto": ("combination", 0.8, 19.0),
    "mcs+auto": ("plan", 1.5, 30.0),
    "mcs+park": ("plan", 30.0, 28.0),
}
#: That barrier of so many threads is so many times slower in company.
LOSES = {("combination", 8): 30.0}


def records(program: str, ranks: int, placement: str, rounds: int, seed: int, only: str = "") -> list[dict]:
    """The lines that the program of that name would print."""
    chance = random.Random(f"{program} {ranks} {placement} {seed}")
    if program in SINGLES:
        return _single(program, chance, ranks, placement, rounds, seed)
    names = [each.partition("+")[0] for each in only.split(",")]
    rows = BARRIERS[program] + (NAMED.get(program, []) if only else [])
    wanted = [row for row in rows if not only or row[0] in names]
    far = chance.choice([1, 6])  # where the virtual processors of this process lie
    made = [_environment(ranks, placement, seed)]
    for number in range(rounds):
        one_way, switch = 27.0 * far * _noise(chance), 1450.0 * _noise(chance)
        floors = {"one_way_ns": one_way, "yield_switch_ns": switch, "exchange_ns": 1.7 * one_way}
        made.append(record("floor", round=number, **floors))
        floor = one_way if ranks <= USABLE else (-(-ranks // USABLE) - 1) * switch
        for name, kind, wait, spare, crowded in wanted:
            # The others' times are the same whether these are there or not.
            luck = random.Random(f"{name} {ranks} {seed} {number}") if kind == "published" else chance
            period = floor * (spare if ranks <= USABLE else crowded) * _noise(luck)
            label = {"round": number, "name": name, "kind": kind, "wait": wait}
            made += _measured(luck, label, period, ranks)
    return [*made, record("skipped", name="ck_mcs", why="spins"), record("done")]


def _environment(ranks: int, placement: str, seed: int) -> dict:
    facts = {"cpus": USABLE, "usable": USABLE, "model": "Replay", "kernel": "none", "compiler": "none"}
    return record("environment", ranks=ranks, placement=placement, seed=seed, **facts)


def _single(program: str, chance: random.Random, ranks: int, placement: str, rounds: int, seed: int) -> list[dict]:
    made = [_environment(ranks, placement, seed)]
    for number in range(rounds):
        for single in SINGLES[program]:
            noisy = {key: single[key] * _noise(chance) for key in ("elapsed_ns", "cpu_ns") if key in single}
            made.append(single | noisy | {"round": number})
    return [*made, record("done")]


def _measured(chance: random.Random, label: dict, period: float, ranks: int) -> list[dict]:
    slow = 15.0 if label["name"] == "std::barrier" else 1.0
    latency = [period * _noise(chance) * chance.choice([1.0, 1.0, slow]) for _ in range(40)]
    skew, span = [0.5 * each for each in latency], [1.2 * each for each in latency]
    batch, stamped, _ = fake_program.measured(label, 400, period, latency, skew, span)
    batch |= {"cpu_ns": 2 * batch["elapsed_ns"], "involuntary": 400 * max(0, ranks - USABLE)}
    return [batch, stamped | {"inside_ns": 0.75 * sorted(latency)[len(latency) // 2]}]


def turns(
    program: str, ranks: int, placement: str, rounds: int, seed: int, only: str = "",
    company: str = "alone", workloads: str = "0", wait: str = "auto", scheduling: bool = False,
) -> list[dict]:  # fmt: skip
    """The lines that it would print with --turns."""
    chance = random.Random(f"{program} {ranks} {placement} {seed} {company} {wait}")
    own = {"tollbar-bench-omp-gomp": ["libgomp"], "tollbar-bench-omp-omp": ["libomp"]}
    usual = ["tollbar::barrier", "group", "std::barrier", "pthread_barrier"]
    names = own.get(program) or (only.split(",") if only else usual)
    usable = min(USABLE, len(os.sched_getaffinity(0)))  # a campaign keeps it to fewer
    made = [_environment(ranks, placement, seed) | {"company": COMPANIES[company], "usable": usable}]
    for number in range(rounds):
        made += replay_crowd.scheduler() if scheduling else []
        for name, _, waits in (each.partition("+") for each in names):
            waits = wait if name == "tollbar::barrier" else waits or "auto"
            kind, alone, beside = TURNS[f"{name}+{waits}"]
            us = alone if company == "alone" else beside * LOSES.get((name, ranks), 1.0)
            for workload in workloads.split(","):
                turn = 1e3 * (us + float(workload.partition("~")[0])) * _noise(chance)
                label = {"round": number, "name": name, "kind": kind, "wait": waits, "workload": workload}
                made.append(record("turns", turns=100, elapsed_ns=100 * turn, cpu_ns=150 * turn, **label))
    if not only and program == "tollbar-bench-threads":
        made.append(record("skipped", name="tuned group", why="nothing is stored"))
    return [*made, record("done")]


_noise = fake_program.noise


def text(*arguments: object) -> str:
    return fake_program.text(records(*arguments))


def main(program: str, words: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--placement", choices=("pinned", "free"), required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--budget-ms")
    parser.add_argument("--beside", choices=COMPANIES, default="alone")
    parser.add_argument("--scheduling", action="store_true")
    parser.add_argument("--turns")
    parser.add_argument("--workload", default="0")
    if "--list" in words:
        for name in (row[0] for row in (*BARRIERS.get(program, ()), *NAMED.get(program, ())) if row[1] == "published"):
            sys.stdout.write(json.dumps({"name": name}) + "\n")
        return
    args = parser.parse_args(words)
    if args.turns:
        wait = os.environ.get("TOLLBAR_WAIT", "auto")
        there = (program, args.ranks, args.placement, args.rounds, args.seed, args.only)
        sys.stdout.write(fake_program.text(turns(*there, args.beside, args.workload, wait, args.scheduling)))
        return
    sys.stdout.write(text(program, args.ranks, args.placement, args.rounds, args.seed, args.only))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

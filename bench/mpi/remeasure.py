#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has the library choose as it does for a communicator, then measures every plan again: how good are choices?

    PYTHONPATH=python bench/mpi/remeasure.py --ranks 2,4,8,16 --times 10 --mpi openmpi4

One line a choice: what was chosen, what was best when measured again, and how much slower the choice was,
as the median over rounds of the ratio of loop periods. The last line: how many choices cost more than 10 %.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from tollbar.campaigns import mpi_tuning
from tollbar.data import tuning
from tollbar.machine import mpis

Periods = dict[str, dict[int, float]]


def launch(mpi: mpis.Mpi, ranks: int, program: Path, file: Path, *flags: str) -> str:
    command = [*mpi_tuning.launcher(mpi, ranks), "env", f"TOLLBAR_TUNING={file}", str(program), *flags]
    done = subprocess.run(
        ["timeout", "-k", "5", "120", *command], capture_output=True, text=True, check=True, env=os.environ
    )
    return done.stdout


def chosen(mpi: mpis.Mpi, ranks: int, program: Path, budget_ms: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tuning"
        launch(mpi, ranks, program, file, "--choose", str(budget_ms))
        return next(e.pairs["plan"] for e in tuning.read(file) if e.pairs["objective"] == "latency")


def periods(mpi: mpis.Mpi, ranks: int, program: Path, plans: list[str], rounds: int) -> Periods:
    """The loop period of each plan in each round."""
    found: Periods = defaultdict(dict)
    flags = ["--late-ms", "0", "--communicators", "0", "--rounds", str(rounds), "--batch-us", "3000"]
    text = launch(mpi, ranks, program, Path("/dev/null"), *flags, "--only", ",".join(plans))
    for line in text.splitlines():
        record = json.loads(line)
        if record["record"] == "batch":
            found[record["name"]][record["round"]] = record["elapsed_ns"] / record["episodes"]
    return found


def best_of(found: Periods) -> str:
    """By every other round, so that the luck that makes a best is not counted for it in those in between."""
    even = {name: [period for each, period in of.items() if each % 2 == 0] for name, of in found.items()}
    return min(even, key=lambda name: statistics.median(even[name]))


def slower_by(found: Periods, plan: str, best: str) -> float:
    odd = [each for each in found[plan].keys() & found[best].keys() if each % 2 == 1]
    return statistics.median(found[plan][each] / found[best][each] for each in odd)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--budget-ms", type=int, default=20)
    parser.add_argument("--mpi", default="openmpi4")
    args = parser.parse_args()
    total = bad = 0
    for mpi, program in mpi_tuning.found([args.mpi]):
        for ranks in map(int, args.ranks.split(",")):
            listed = launch(mpi, ranks, program, Path("/dev/null"), "--list")
            known = [record for line in listed.splitlines() if (record := json.loads(line))["wait"] == "auto"]
            plans = [each["name"] + "+auto" for each in known if each["kind"] in ("plan", "turnstile")]
            for _ in range(args.times):
                plan = chosen(mpi, ranks, program, args.budget_ms)
                wanted = plans if f"{plan}+auto" in plans else [*plans, f"{plan}+auto"]
                found = periods(mpi, ranks, program, wanted, args.rounds)
                best = best_of(found)
                behind = slower_by(found, plan, best)
                period_us = statistics.median(found[plan].values()) / 1000
                print(f"{mpi.name} {ranks:3} ranks: {plan} {period_us:.2f} us, best {best}, {behind:.3f}", flush=True)
                total += 1
                bad += behind > 1.10
    print(f"{bad} of {total} choices cost more than 10 %")


if __name__ == "__main__":
    main()

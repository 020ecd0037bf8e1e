# SPDX-License-Identifier: Apache-2.0
"""Runs a program that measures threads inside ranks for one round: it ends well and can be read."""

from __future__ import annotations

import json
import subprocess
import sys

LIMIT_S = 110
NAMES = [
    "omp barrier around MPI_Barrier",
    "pthread_barrier around MPI_Barrier",
    "turnstile/mcs",
    "dissemination/mcs:2,2",
]
FLAGS = ("--threads", "2", "--rounds", "1", "--batch-us", "200", "--only", ",".join(NAMES))


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def run(program: str, launcher: list[str], *flags: str) -> subprocess.CompletedProcess[str]:
    command = [*launcher, "-n", "2", program, *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def main(program: str, *launcher: str) -> None:
    done = run(program, list(launcher), *FLAGS)
    if done.returncode != 0:
        fail(f"exit status {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [record["record"] for record in records]
    if kinds[0] != "environment" or kinds[-1] != "done":
        fail(f"it begins with {kinds[0]} and ends with {kinds[-1]}")
    if records[0]["ranks"] != 2 or records[0]["threads"] != "2" or records[0]["level"] != "serialized":
        fail(f"it does not know what it runs: {records[0]}")
    for kind in ("batch", "episodes", "isolated"):
        found = sorted(record["name"] for record in records if record["record"] == kind)
        if found != sorted(NAMES):
            fail(f"records '{kind}' of {found}")
    if any(len(record["rank_cpu_ns"]) != 2 for record in records if record["record"] == "batch"):
        fail("the CPU time is not that of two ranks")

    wrong = run(program, list(launcher), "--threads", "none")
    said = [line for line in wrong.stderr.splitlines() if line.startswith("tollbar-bench-hybrid-")]
    if wrong.returncode == 0 or len(said) != 1 or "--threads" not in said[0]:
        fail(f"wrong use gave status {wrong.returncode} and {wrong.stderr!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])

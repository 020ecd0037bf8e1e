# SPDX-License-Identifier: Apache-2.0
"""Runs a program of OpenSHMEM for one round under its launcher: it ends well, and can be read."""

from __future__ import annotations

import json
import subprocess
import sys

LIMIT_S = 110
SOME = "shmem_barrier_all,MPI_Ibarrier,default,dissemination+puts,dissemination+amo32"
MEASURED = {tuple((each + "+auto").split("+")[:2]) for each in SOME.split(",")}
FLAGS = {
    "tollbar-bench-shmem": (("--away-ms", "20", "--skew-us", "100"), ("batch", "episodes", "isolated")),
    "tollbar-bench-dsde": (("--iterations", "50"), ("dsde",)),
}


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)


def check_round_trips(program: str, *launcher: str) -> None:
    done = run(*launcher, program, "--rounds", "1", "--batch-us", "200", "--placement", "pinned")
    if done.returncode != 0:
        fail(f"exit status {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    trips = [record for record in records if record["record"] == "round_trips"]
    if {record["name"] for record in trips} != {"puts", "stores"} or len(trips) != 6:
        fail(f"round trips of {trips}")
    if not all(min(record["trip_ns"]) > 0 for record in trips):
        fail("a round trip took no time")


def main(program: str, *launcher: str) -> None:
    name = program.rpartition("/")[2]
    if name not in FLAGS:
        check_round_trips(program, *launcher)
        return
    flags, kinds = FLAGS[name]
    more = ",MPI NBX" if kinds == ("dsde",) else ""
    done = run(*launcher, program, "--rounds", "1", "--batch-us", "200", "--only", SOME + more, *flags)
    if done.returncode != 0:
        fail(f"exit status {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if records[0]["record"] != "environment" or records[-1]["record"] != "done":
        fail(f"it begins with {records[0]} and ends with {records[-1]}")
    if records[0]["ranks"] != int(launcher[-1]) or not records[0]["shmem"]:
        fail(f"it does not know where it runs: {records[0]}")
    wanted = MEASURED | {("MPI NBX", "auto")} if more else MEASURED
    for kind in kinds:
        if (found := {(r["name"], r["wait"]) for r in records if r["record"] == kind}) != wanted:
            fail(f"records '{kind}' of {found}")
    for away in (record for record in records if record["record"] == "away"):
        if away["name"] == "default" and min(away["released_ns"]) >= away["away_ns"]:
            fail(f"a posted PE that is away holds the others up: {away}")
    wrong = run(*launcher, program, "--only", "nobody's barrier")
    said = [line for line in wrong.stderr.splitlines() if line.startswith(f"{name}: ")]
    if wrong.returncode == 0 or len(said) != 1:
        fail(f"wrong use gave status {wrong.returncode} and {wrong.stderr!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Runs an MPI program for one round under its launcher: it ends well, can be read, leaves nothing over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

LIMIT_S = 110
PLANS = "MPI_Barrier,MPI_Ibarrier,turnstile,dissemination,mcs:2,2+messages"
MEASURED = {
    ("MPI_Barrier", "auto"),
    ("MPI_Ibarrier", "auto"),
    ("turnstile", "auto"),
    ("dissemination", "auto"),
    ("dissemination", "messages"),
    ("mcs:2,2", "messages"),
}
FLAGS = ("--rounds", "1", "--batch-us", "200", "--late-ms", "20", "--communicators", "2", "--only", PLANS)
#: The launchers of Open MPI refuse root and more ranks than processors unless they are told.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=os.environ | OPEN_MPI, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )


def left_over() -> set[Path]:
    return set(Path("/dev/shm").glob("tollbar.bench.*"))


def check_round_trips(launcher: str, program: str) -> None:
    done = run(launcher, "-n", "2", program, "--measure", "round-trips", "--rounds", "1", "--batch-us", "200")
    if done.returncode != 0:
        fail(f"round trips: exit status {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    trips = [record for record in records if record["record"] == "round_trips"]
    found = {(record["name"], record["messages"], bool(record["delays_ns"])) for record in trips}
    kinds = ((1, False), (16, False), (16, True))
    if found != {(name, *kind) for name in ("words", "messages") for kind in kinds}:
        fail(f"round trips of {found}")
    if not all(min(record["trip_ns"]) > 0 for record in trips):
        fail("a round trip took no time")


def main(launcher: str, ranks: str, program: str) -> None:
    before = left_over()
    done = run(launcher, "-n", ranks, program, *FLAGS)
    if done.returncode != 0:
        fail(f"exit status {done.returncode}: {done.stderr.strip()}")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [record["record"] for record in records]
    if kinds[0] != "environment" or kinds[-1] != "done":
        fail(f"it begins with {kinds[0]} and ends with {kinds[-1]}")
    if records[0]["ranks"] != int(ranks) or records[0]["mpi"].endswith("?") or records[0]["hosts"] != "1":
        fail(f"it does not know where it runs: {records[0]}")
    for once in ("floor", "set_up", "late"):
        if kinds.count(once) != 1:
            fail(f"{kinds.count(once)} records '{once}' in one round")
    for kind in ("batch", "episodes", "isolated"):
        found = {(r["name"], r["wait"]) for r in records if r["record"] == kind}
        if found != MEASURED:
            fail(f"records '{kind}' of {found}")
    late = next(record for record in records if record["record"] == "late")
    if len(late["waiter_cpu_ns"]) != int(ranks) - 1 or late["waited_ns"] < 20e6:
        fail(f"nobody waited for 20 ms: {late}")
    for record in (record for record in records if record["record"] in ("episodes", "isolated")):
        pairs = zip(record["span_ns"], record["latency_ns"], strict=True)
        if not record["span_ns"] or not all(span >= latency >= 0 for span, latency in pairs):
            fail(f"a latency of {record['name']} is longer than its span")
    if ranks == "2":
        check_round_trips(launcher, program)
    if stayed := left_over() - before:
        time.sleep(1)  # another launch has its name for a moment
        if stayed := stayed & left_over():
            fail(f"it left {stayed} behind")

    wrong = run(launcher, "-n", ranks, program, "--only", "nobody's barrier")
    said = [line for line in wrong.stderr.splitlines() if line.startswith("tollbar-bench-mpi-")]
    if wrong.returncode == 0 or len(said) != 1 or "--list" not in said[0]:
        fail(f"wrong use gave status {wrong.returncode} and {wrong.stderr!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])

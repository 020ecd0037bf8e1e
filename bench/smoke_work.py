# SPDX-License-Identifier: Apache-2.0
"""Runs a measuring program with workloads for one round: a run lasts at least as long as its computing."""

import json
import subprocess
import sys

WORKLOADS = ("0", "100", "100~0.5", "360us")


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def main(only: str, *command: str) -> None:
    flags = ["--rounds", "1", "--batch-us", "2000", "--only", only, "--workload", ",".join(WORKLOADS)]
    run = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=110, check=False)
    if run.returncode != 0:
        fail(f"exit status {run.returncode}: {run.stderr.strip()}")
    records = [json.loads(line) for line in run.stdout.splitlines()]
    if records[0]["record"] != "environment" or records[-1]["record"] != "done":
        fail(f"it begins with {records[0]} and ends with {records[-1]}")
    found = {(r["name"], r["workload"]): r for r in records if r["record"] == "work"}
    wanted = {(name.partition("+")[0], workload) for name in only.split(",") for workload in WORKLOADS}
    if set(found) != wanted:
        fail(f"work records of {sorted(found)}")
    for record in found.values():
        # Rank 0 may have begun to count when the others were in the first phase already.
        if record["elapsed_ns"] < 0.99 * (record["runs"] - 1) * record["longest_ns"]:
            fail(f"runs that are shorter than their computing: {record}")
    if any(record["record"] == "batch" for record in records):
        fail("bare episodes were measured too")


if __name__ == "__main__":
    main(*sys.argv[1:])

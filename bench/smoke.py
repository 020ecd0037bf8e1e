# SPDX-License-Identifier: Apache-2.0
"""Runs a measuring program for one round: it ends well, and all it prints can be read. No number decides."""

import json
import subprocess
import sys


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def main(program: str, *flags: str) -> None:
    command = [program, "--ranks", "2", "--rounds", "1", "--batch-us", "200", *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        fail(f"exit status {run.returncode}: {run.stderr.strip()}")
    records = [json.loads(line) for line in run.stdout.splitlines()]
    kinds = [record["record"] for record in records]
    if kinds[0] != "environment" or kinds[-1] != "done":
        fail(f"it begins with {kinds[0]} and ends with {kinds[-1]}")
    if kinds.count("floor") != 1 or kinds.count("batch") < 1:
        fail(f"{kinds.count('floor')} floors and {kinds.count('batch')} batches in one round")
    stamped = {(r["name"], r["wait"]): r for r in records if r["record"] == "episodes"}
    for batch in (record for record in records if record["record"] == "batch"):
        samples = stamped[batch["name"], batch["wait"]]
        if batch["episodes"] < 1 or not samples["latency_ns"]:
            fail(f"nothing was measured of {batch['name']}")
        if not all(
            span >= latency >= 0
            for span, latency in zip(samples["span_ns"], samples["latency_ns"], strict=True)
        ):
            fail(f"a latency of {batch['name']} is longer than its span")

    wrong = subprocess.run([program, "--ranks", "0"], capture_output=True, text=True, check=False)
    if wrong.returncode != 2 or len(wrong.stderr.splitlines()) != 1 or wrong.stdout:
        fail(f"wrong use gave status {wrong.returncode} and {wrong.stderr!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])

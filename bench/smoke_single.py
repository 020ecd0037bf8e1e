# SPDX-License-Identifier: Apache-2.0
"""Runs a program that measures one thing, for one round: it ends well, can be read, leaves nothing over."""

import json
import os
import subprocess
import sys
from pathlib import Path

TIMES = {
    "processes": ("elapsed_ns", "episodes"),
    "idle": ("waited_ns", "cpu_ns", "waiters"),
    "unused": ("participant_ns", "bare_ns", "episodes"),
    "crowd": ("elapsed_ns", "period_ns", "episodes"),
    "round_trips": ("trip_ns", "messages"),
}
SUBJECTS = {
    "processes": {
        ("turnstile", "one session"),
        ("turnstile", "sessions"),
        ("pthread_barrier", "one session"),
    },
    "idle": {
        ("turnstile", None),
        ("tollbar::barrier", None),
        ("std::barrier", None),
        ("pthread_barrier", None),
    },
    "unused": {("turnstile", None), ("dissemination", None)},
    "crowd": {(name, None) for name in ("turnstile", "mcs", "combination", "std::barrier")},
}


def fail(why: str) -> None:
    sys.exit(f"smoke run: {why}")


def left_over(pid: int) -> list[Path]:
    groups = [
        path
        for top in ("cpu", "cpu,cpuacct", "")
        for path in Path("/sys/fs/cgroup", top).glob(f"**/tollbar-bench-{pid}-*")
    ]
    return groups + list(Path("/dev/shm").glob(f"tollbar.*.bench.{pid}"))


def main(program: str, kind: str, *flags: str) -> None:
    run = subprocess.Popen(
        [program, "--rounds", "1", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    output, errors = run.communicate()
    if run.returncode != 0:
        fail(f"exit status {run.returncode}: {errors.strip()}")
    records = [json.loads(line) for line in output.splitlines()]
    kinds = [record["record"] for record in records]
    if kinds[0] != "environment" or kinds[-1] != "done":
        fail(f"it begins with {kinds[0]} and ends with {kinds[-1]}")
    if stayed := left_over(run.pid):
        fail(f"it left {stayed} behind")

    measured = [record for record in records if record["record"] == kind]
    for record in measured:
        values = [record[name] for name in TIMES[kind]]
        if not all(min(value if isinstance(value, list) else [value]) > 0 for value in values):
            fail(f"something took no time: {record}")
    if kind == "unused" and len(os.sched_getaffinity(0)) < 2:
        if "skipped" not in kinds:
            fail("there is one CPU, and nothing says that it cannot be measured")
    elif kind == "round_trips":
        if len(measured) != 3 or {record["name"] for record in measured} - {"words", "frames"}:
            fail(f"round trips of {measured}")
    elif missing := SUBJECTS[kind] - {(record["name"], record.get("apart")) for record in measured}:
        fail(f"{missing} were not measured")

    for wrong_use in (["--ranks", "0"], ["--only", "mcs"]):
        wrong = subprocess.run([program, *wrong_use], capture_output=True, text=True, check=False)
        if wrong.returncode != 2 or len(wrong.stderr.splitlines()) != 1 or wrong.stdout:
            fail(f"wrong use gave status {wrong.returncode} and {wrong.stderr!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])

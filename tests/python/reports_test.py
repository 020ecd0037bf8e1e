# SPDX-License-Identifier: Apache-2.0
"""Waits at Python's barriers that last longer than TOLLBAR_TIMEOUT say who is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Arguments: a kind of barrier, and the file of reports. Rank 1 comes when there is a report.
LATE = """
import multiprocessing, os, sys, threading, time
import tollbar
kind, file = sys.argv[1:]
def come(number, meet):
    if number == 1:
        while not (os.path.exists(file) and open(file).read().endswith(chr(10))): time.sleep(0.01)
    meet(number)
def run(start, meet):
    members = [start(target=come, args=(number, meet)) for number in range(3)]
    for each in members: each.start()
    for each in members: each.join()
if kind == "Group":
    group = tollbar.Group(3)
    members = [group.join(rank) for rank in range(3)]
    run(threading.Thread, lambda rank: members[rank].arrive_and_wait())
elif kind == "main":
    barrier = tollbar.Barrier(2)
    other = threading.Thread(target=come, args=(1, lambda _: barrier.wait()))
    other.start()
    barrier.wait()
    other.join()
elif kind == "Barrier":
    barrier = tollbar.Barrier(3)
    run(threading.Thread, lambda _: barrier.wait())
else:
    shared = tollbar.process_barrier(3)
    run(multiprocessing.get_context("fork").Process, lambda _: shared.wait())
"""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            "Barrier",
            r"tollbar.Barrier of .*: thread \d+ has waited .* s: 1 of 3 threads have not arrived, threads .* have",
        ),
        ("main", r"tollbar.Barrier of .*: thread \d+ has waited .* s: 1 of 2 threads have not arrived, thread \d+ has"),
        ("Group", r"the group \(3 ranks, \w+\), episode 1: rank [02] has waited .*: rank 1 \(.*\) has not arrived"),
        (
            "process_barrier",
            r"tollbar.process_barrier: process \d+ has waited .* s: 1 of 3 processes have not arrived, ",
        ),
    ],
)
def test_a_wait_names_the_missing_after_the_time_out(tmp_path, kind, said):
    file = tmp_path / "reports"
    done = subprocess.run(
        [sys.executable, "-c", LATE, kind, file], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, "TOLLBAR_TIMEOUT": "0.3", "TOLLBAR_REPORT": str(file)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(said, file.read_text()), file.read_text()

# SPDX-License-Identifier: Apache-2.0
"""Programs that a measuring program records are replayed by the simulated scheduler."""

import csv
import json
import subprocess
from pathlib import Path

from tollbar.cli import main
from tollbar.machine import paths

RUNS = 30


def recorded(file: Path) -> dict[str, list[tuple[str, str]]]:
    program = paths.program("tollbar-bench-threads")
    words = ["--ranks", "2", "--rounds", "1", "--only", "turnstile+park", "--workload", "200~0.5"]
    subprocess.run([program, *words, "--runs", str(RUNS), "--profile", file], check=True, capture_output=True)
    threads: dict[str, list[tuple[str, str]]] = {}
    for row in csv.DictReader(file.read_text().splitlines()):
        threads.setdefault(row["thread"], []).append((row["event"], row["value"]))
    return threads


def test_a_recorded_run_has_the_computing_of_each_thread_and_is_replayed(tmp_path, capsys):
    file = tmp_path / "profile.csv"
    threads = recorded(file)
    assert set(threads) == {"0", "1"}
    for events in threads.values():  # the first stamp is of the warm-up, and what came before it is not known
        assert [event for event, _ in events] == ["compute", "barrier"] * RUNS
        assert min(float(us) for event, us in events if event == "compute") >= 99
    words = ["simulate", "scheduler", "turnstile", "--waiting", "spin", "--cpus", "2", "--compute", str(file)]
    assert main([*words, "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["threads"], row["barriers"]) == (2, RUNS)
    # Each with a processor of its own: an episode takes the computing of the slower one.
    computed = [[float(us) for event, us in events if event == "compute"] for events in threads.values()]
    assert abs(row["completed_us"] - sum(map(max, *computed))) < 1


def test_a_profile_that_cannot_be_written_is_said_in_one_line(tmp_path):
    program = paths.program("tollbar-bench-threads")
    words = ["--rounds", "1", "--only", "turnstile", "--profile", "/nonexistent/profile.csv"]
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("cannot write /nonexistent/profile.csv")

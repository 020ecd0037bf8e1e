# SPDX-License-Identifier: Apache-2.0
"""Random programs of MPI, in each of which one rank goes astray: `tollbar run --timeout` and `tollbar who` name that
rank, and whatever else they say is true. Without a fault, but slowed at random, all that is said is true as well, and
each program ends as it would alone.

A change waits for the quick ones, where a mistake is printed and counts if the program brings it again; in the deep
ones each counts.

N of each kind through each MPI: TOLLBAR_RANDOM_RUNS=N .venv/bin/pytest -n 2 -s -m '' tests/look/random_test.py"""

from __future__ import annotations

import os

import pytest
from looking import LAUNCHERS
from random_jobs import play

#: The number of programs of each kind through each MPI, or the programs themselves.
RUNS = int(os.environ.get("TOLLBAR_RANDOM_RUNS", "1000"))
SEEDS = [int(seed) for seed in os.environ.get("TOLLBAR_RANDOM_SEEDS", "").split(",") if seed]
QUICK = 0  # the deep tests have all of them: on a busy machine some did not end in time


def seeds_of(first: int, count: int) -> list[int]:
    return SEEDS or list(range(first, first + max(0, count)))


@pytest.mark.parametrize(
    ("first", "count"), [(0, QUICK), pytest.param(QUICK, RUNS - QUICK, marks=pytest.mark.deep)], ids=["quick", "deep"]
)
@pytest.mark.parametrize("kind", ["fault", "slow"])
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_of_random_programs_only_what_is_true_is_said(compiled, tmp_path, mpi, kind, first, count):
    executable = compiled("random_program.c", f"mpicc.{mpi}", "-O2", "-g")
    wrong = []
    for seed in seeds_of(first, count):
        outcome = play(seed, mpi, kind == "fault", tmp_path / str(seed), executable)
        print(f"seed {seed}: {outcome.fault or 'no fault'}, {outcome.said} lines, {outcome.seconds:.1f} s", flush=True)
        if outcome.mistakes and count == QUICK and not SEEDS:
            print(outcome, flush=True)
            outcome = play(seed, mpi, kind == "fault", tmp_path / str(seed), executable)
        if outcome.mistakes:
            wrong.append(outcome)
            print(outcome, flush=True)
    assert not wrong, f"{len(wrong)} of {count}: seeds {[one.seed for one in wrong]}"

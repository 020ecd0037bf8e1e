# SPDX-License-Identifier: Apache-2.0
"""Random programs of MPI, in each of which one rank goes astray: `tollbar run --timeout` and `tollbar who` name that
rank, and whatever else they say is true. Without a fault, but slowed at random, all that is said is true as well, and
each program ends as it would alone.

N of each kind through each MPI: TOLLBAR_RANDOM_RUNS=N .venv/bin/pytest -n 2 -s -m '' tests/look/random_test.py"""

from __future__ import annotations

import os

import pytest
from looking import LAUNCHERS
from random_jobs import play

#: The number of programs of each kind through each MPI, or the programs themselves.
RUNS = int(os.environ.get("TOLLBAR_RANDOM_RUNS", "1000"))
SEEDS = [int(seed) for seed in os.environ.get("TOLLBAR_RANDOM_SEEDS", "").split(",") if seed]


@pytest.mark.deep  # on a busy machine some do not end in time
@pytest.mark.parametrize("kind", ["fault", "slow"])
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_of_random_programs_only_what_is_true_is_said(compiled, tmp_path, mpi, kind):
    executable = compiled("random_program.c", f"mpicc.{mpi}", "-O2", "-g")
    wrong = []
    for seed in SEEDS or range(RUNS):
        outcome = play(seed, mpi, kind == "fault", tmp_path / str(seed), executable)
        print(f"seed {seed}: {outcome.fault or 'no fault'}, {outcome.said} lines, {outcome.seconds:.1f} s", flush=True)
        if outcome.mistakes:
            wrong.append(outcome)
            print(outcome, flush=True)
    assert not wrong, f"{len(wrong)} of {len(SEEDS) or RUNS}: seeds {[one.seed for one in wrong]}"

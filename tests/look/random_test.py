# SPDX-License-Identifier: Apache-2.0
"""Random programs of MPI, in each of which one rank goes astray: `tollbar run --timeout` and `tollbar who` name that
rank, and whatever else they say is true. Without a fault, but slowed at random, all that is said is true as well, and
each program ends as it would alone.

N of each kind through each MPI: TOLLBAR_RANDOM_RUNS=N .venv/bin/pytest -n 0 -s -m '' tests/look/random_test.py"""

from __future__ import annotations

import itertools
import os

import pytest
from looking import LAUNCHERS
from random_jobs import PIECES, play, smaller

RUNS = int(os.environ.get("TOLLBAR_RANDOM_RUNS", "2000"))
SEEDS = [int(seed) for seed in os.environ.get("TOLLBAR_RANDOM_SEEDS", "").split(",") if seed]


def parts(quick: int, runs: int, each: int) -> list:
    """The seeds of jobs in parts; two parts of `quick` are played whenever tests are."""
    ends = [0, quick, 2 * quick, *range(each, runs, each), runs]
    ranges = [SEEDS] if SEEDS else [range(begin, end) for begin, end in itertools.pairwise(ends) if end > begin]
    return [
        pytest.param(seeds, id=f"{seeds[0]}-{seeds[-1]}", marks=() if seeds[-1] < 2 * quick else pytest.mark.deep)
        for seeds in ranges
    ]


def played(seeds, mpi: str, with_fault: bool, folder, executable) -> None:
    wrong = []
    for seed in seeds:
        outcome = play(seed, mpi, with_fault, folder / str(seed), executable)
        print(f"{mpi}, {outcome.summary}", flush=True)
        if outcome.mistakes:
            wrong.append(seed)
            print(outcome, flush=True)
            print("It may be smaller:", smaller(outcome, folder / "smaller", executable), flush=True)
    assert not wrong, f"{len(wrong)} of {len(seeds)}: seeds {wrong}"


@pytest.fixture(params=LAUNCHERS)
def mpi(request) -> str:
    return request.param


@pytest.fixture
def executable(compiled, mpi):
    return compiled("random_program.c", f"mpicc.{mpi}", "-O2", "-g", "-w")


@pytest.mark.parametrize("seeds", parts(5, RUNS, 20))
def test_where_a_rank_goes_astray_it_is_named_and_nobody_is_accused(executable, tmp_path, mpi, seeds):
    played(seeds, mpi, True, tmp_path, executable)


@pytest.mark.parametrize("seeds", parts(1, RUNS // PIECES, 4))
def test_of_slow_ranks_only_what_is_true_is_said(executable, tmp_path, mpi, seeds):
    played(seeds, mpi, False, tmp_path, executable)

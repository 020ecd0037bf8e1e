# SPDX-License-Identifier: Apache-2.0
"""What is started for threads inside ranks, and what is refused."""

from pathlib import Path

import pytest
from tollbar.campaigns import hybrid as hybrid_campaign
from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns.campaign import Request
from tollbar.machine import paths
from tollbar.machine.mpis import Mpi

OPEN_MPI = Mpi("openmpi", "4.1.4", Path("/there/mpirun"))
MPICH = Mpi("mpich", "4.0.2", Path("/there/mpiexec"))
NEWER = Mpi("openmpi", "5.0.11", Path("/elsewhere/mpirun"))


def built(name: str) -> Path:
    if name.endswith("5"):
        raise FileNotFoundError(f"the program {name} is not there")
    return Path("/built") / name


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr(mpi_campaign.mpis, "installed", lambda: [OPEN_MPI, MPICH, NEWER])
    monkeypatch.setattr(paths, "program", built)


def prepared(**more):
    usual = {"ranks": (2, 8), "threads": (2, 12), "mpis": (), "launches": 1, "rounds": 2, "budget_s": 9.0}
    with hybrid_campaign.prepared(Request(**usual | more)) as found:
        return found


def test_mpich_is_measured_with_few_ranks_and_threads_unless_it_is_asked_for():
    work, _ = prepared()
    assert [each[1:] for each in work.situations if each.mpi == MPICH] == [(2, 2)]
    assert len([each for each in work.situations if each.mpi == OPEN_MPI]) == 4
    work, _ = prepared(mpis=("mpich",))
    assert len(work.situations) == 4


def test_an_mpi_without_a_program_is_named_when_it_was_asked_for():
    assert prepared()[1] == []
    assert "Open MPI 5.0.11 is not measured" in prepared(mpis=("openmpi",))[1][0]


def test_a_launch_says_how_many_threads_and_what_to_measure(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    work, _ = prepared(only=("mcs/mcs",), level="funneled")
    where = next(each for each in work.situations if each.mpi == OPEN_MPI and each.threads == 12)
    start = work.start(work.programs(where)[0], where, 2, 7)
    text = " ".join(start.command)
    assert "/there/mpirun --oversubscribe --bind-to none" in text
    assert "-n 2 /built/tollbar-bench-hybrid-openmpi --threads 12 --level funneled --rounds 2 --seed 7" in text
    assert text.endswith("omp barrier around MPI_Barrier,pthread_barrier around MPI_Barrier,mcs/mcs")
    assert "OMP_NUM_THREADS" not in start.environment


def test_with_full_every_combination_is_measured():
    work, _ = prepared(full=True)
    where = work.situations[0]
    assert "--only" not in work.start(work.programs(where)[0], where, 2, 7).command


def test_without_any_program_it_is_said_how_to_get_one(monkeypatch):
    def absent(name: str) -> Path:
        raise FileNotFoundError(f"the program {name} is not there")

    monkeypatch.setattr(paths, "program", absent)
    with pytest.raises(FileNotFoundError, match="tollbar-bench-hybrid-openmpi is not there"):
        prepared()

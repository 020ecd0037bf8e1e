# SPDX-License-Identifier: Apache-2.0
"""Workloads that were measured: gathered by place, what a barrier adds to them, and what stands side by side."""

import pytest
from tollbar.data.places import Candidate, Situation
from tollbar.data.schema import MalformedRecord
from tollbar_lab.models import workloads

ENVIRONMENT = {"record": "environment", "ranks": 2, "usable": 2, "placement": "pinned"}
RUNS = {
    "record": "work", "round": 0, "name": "mcs", "kind": "plan", "wait": "auto", "workload": "360us",
    "phases": 8, "runs": 10, "elapsed_ns": 4_000_000, "computing_ns": 360_000, "longest_ns": 376_000,
}  # fmt: skip


def launch(*lines: dict, number: int = 0, **told) -> tuple:
    return number, "p", (ENVIRONMENT | told, *lines, {"record": "done"})


def test_a_barrier_costs_what_its_runs_take_beyond_the_longest_computing_of_each_phase(as_samples):
    found = workloads.gather(as_samples(launch(RUNS), launch(RUNS | {"elapsed_ns": 4_800_000}, number=1)))
    measured = found[Situation(ranks=2, placement="pinned")]["360us"][Candidate("mcs", "plan", "auto")]
    assert measured.run.value == 440_000
    assert measured.longest_ns == 376_000
    assert measured.barrier_ns == (440_000 - 376_000) / 8
    assert measured.efficiency == 360 / 440


def test_an_mpi_is_a_place_of_its_own(as_samples):
    found = as_samples(launch(RUNS), launch(RUNS, mpi="Open MPI 4.1"))
    assert [place.over for place in workloads.gather(found)] == ["Open MPI 4.1", "threads"]


@pytest.mark.parametrize("wrong", [{"runs": 0}, {"phases": 0}, {"elapsed_ns": 0}, {"longest_ns": None}])
def test_runs_that_cannot_be_are_refused_by_line(as_samples, wrong):
    with pytest.raises(MalformedRecord, match="somewhere:2"):
        as_samples(launch(RUNS | wrong))


def work_launch(program: str, name: str, kind: str, **facts: str) -> tuple:
    lines = [
        {"record": "environment", "ranks": 4, "usable": 2, "placement": "free", **facts},
        {
            "record": "work", "round": 0, "name": name, "kind": kind, "wait": "auto", "workload": "64",
            "phases": 1, "runs": 1, "elapsed_ns": 200000, "computing_ns": 64000, "longest_ns": 64000,
        },
        {"record": "done"},
    ]  # fmt: skip
    return 0, program, lines


def test_an_mpi_beside_hosts_stands_where_they_stand(as_samples):
    mpi = {"mpi": "Open MPI 4.1.4", "hosts": "4", "setting": "bruck", "door": "none"}
    found = workloads.gather(
        as_samples(
            work_launch("udp", "pairwise", "udp", network="namespaces"),
            work_launch("mpi.bruck", "MPI_Barrier", "mpi", **mpi),
            work_launch("shmem", "default", "split", mpi="Open MPI 4.1.4", shmem="Open MPI"),
            work_launch("udp", "pairwise", "udp", network="loopback"),
        )
    )
    assert [place.over for place in found] == ["hosts", "loopback", "shmem"]
    together = next(each for place, each in found.items() if place.over == "hosts")
    assert set(together["64"]) == {
        Candidate("pairwise", "udp", "auto"),
        Candidate("MPI_Barrier [bruck]", "mpi", "auto"),
    }

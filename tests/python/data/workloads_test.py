# SPDX-License-Identifier: Apache-2.0
"""Workloads that were measured: gathered by place, and what a barrier adds to them."""

import pytest
import tollbar
from tollbar.data import workloads
from tollbar.data.places import Candidate, Situation
from tollbar.data.schema import MalformedRecord

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


def test_a_workload_is_spelled_the_same_here_and_in_the_measuring_programs():
    assert tollbar.parse_workload("64~0.2") == ([64.0], 0.2)
    assert sum(tollbar.parse_workload("9450us")[0]) == 9450
    with pytest.raises(ValueError, match="'quick' is not a computing time"):
        tollbar.parse_workload("quick")

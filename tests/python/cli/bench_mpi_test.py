# SPDX-License-Identifier: Apache-2.0
"""tollbar bench mpi, with replays in place of the measuring programs and their launchers."""

import pytest
from tollbar.data import results


@pytest.fixture
def bench(tollbar, jobs, monkeypatch, tmp_path):
    monkeypatch.setenv("TOLLBAR_BUILD", str(jobs.parent))
    monkeypatch.setenv("TOLLBAR_RESULTS", str(tmp_path / "results"))
    return lambda *arguments: tollbar("bench", *arguments)


def test_every_launch_is_stored(bench, tmp_path):
    assert bench("mpi", "--ranks", "2,4", "--launches", "6").code == 0
    run = results.read(results.newest(tmp_path / "results", "mpi"))
    assert len(run.launches) == 6 * (5 + 5 + 1 + 1 + 2)


def test_one_call_is_measured_as_it_comes_and_behind_each_door(bench):
    words = ("mpi", "MPI_Barrier", "--ranks", "4", "--mpi", "openmpi", "--launches", "1", "--json")
    rows = {row["barrier"] for row in bench(*words).json}
    assert rows == {"MPI_Barrier", "PMPI_Barrier", "MPI_Barrier [component]", "MPI_Barrier [preload]"}


def test_a_barrier_is_asked_for_by_the_name_that_its_row_has(bench):
    words = ("mpi", "MPI_Barrier [component]", "--ranks", "4", "--mpi", "openmpi", "--json")
    rows = {row["barrier"] for row in bench(*words, "--launches", "1").json}
    assert rows == {"MPI_Barrier", "MPI_Barrier [component]"}


def test_a_short_run_has_the_preload_and_the_mpis_own_in_one_process(bench, tmp_path):
    said = bench("mpi", "--ranks", "4", "--effort", "quick", "--launches", "1", "--json")
    assert {row["barrier"] for row in said.json} == {"PMPI_Barrier", "MPI_Barrier [preload]"}


def test_each_barrier_is_compared_with_the_mpis_own(bench):
    said = bench("mpi", "--ranks", "4", "--launches", "1", "--mpi", "openmpi", "--format", "json")
    times = {row["barrier"]: row for row in said.json if row["where"] == "free"}
    assert times["MPI_Barrier"]["today"] == 1.0
    assert times["MPI_Barrier [component]"]["period_us"] == pytest.approx(1.4 * 1.2, rel=0.05)
    assert times["turnstile"]["today"] == pytest.approx(1.2 / 5, rel=0.1)
    assert "central (messages)" in times
    assert {row["over"] for row in said.json} == {"Open MPI 4.1.4"}


def test_the_table_says_where_the_samples_are(bench, tmp_path):
    said = bench("mpi", "--ranks", "4", "--launches", "1", "--mpi", "mpich")
    assert f"every sample is in {tmp_path}/results/mpi-" in said.err


def test_a_barrier_that_is_none_fails_the_check(bench, jobs):
    line = '{"record":"violation","name":"mcs"}'
    (jobs / "tollbar-bench-mpi-mpich").write_text(f"#!/bin/sh\necho '{line}'\nexit 1\n")
    said = bench("mpi", "--ranks", "4", "--launches", "1", "--mpi", "mpich,openmpi")
    assert said.code == 1
    assert "NOT A BARRIER" in said.err

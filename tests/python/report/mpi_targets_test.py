# SPDX-License-Identifier: Apache-2.0
"""The targets between processes: what is a ratio to what, and what is said where there is none."""

import pytest
from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import passes
from tollbar.campaigns.campaign import Asked
from tollbar.data import samples
from tollbar.report import targets


def found(tmp_path, **changed):
    usual = {"ranks": (2, 4, 8, 16, 32), "mpis": (), "hosts": 1, "launches": 6, "rounds": 2}
    with mpi_campaign.prepared(Asked(**usual | {"budget_s": 300.0} | changed)) as (work, notes):
        outcome = passes.measure(work, notes, tmp_path / "runs", lambda *_: None)
    assert outcome.failures == []
    return samples.read([outcome.folder])


@pytest.fixture(scope="module")
def rows(tmp_path_factory, make_jobs):
    folder = tmp_path_factory.mktemp("jobs")
    with pytest.MonkeyPatch.context() as monkeypatch:
        make_jobs(folder, monkeypatch)
        return targets.evaluate(found(folder, rounds=1))


def find(rows, case, ranks, candidate):
    return next(row for row in rows if (row.case, row.ranks, row.candidate) == (case, ranks, candidate))


def test_each_target_of_one_host_is_judged(rows):
    unsaid = [row for row in rows if row.verdict not in ("met", "missed", "tie")]
    assert unsaid == []

    component, preload = "MPI_Barrier [component]", "MPI_Barrier [preload]"
    pair = find(rows, "loop period / 0.05 µs", 2, component)
    assert (pair.value, pair.verdict) == (pytest.approx(30 * 1.2 / 50, rel=0.05), "met")
    assert find(rows, "median of timed calls / 0.05 µs", 2, preload).verdict == "met"
    crowded = find(rows, "loop period / B(N)", 8, preload)
    assert crowded.value == pytest.approx(1.2, rel=0.05)
    assert crowded.low <= crowded.value <= crowded.high

    own = "loop period / that of the MPI's own"
    assert find(rows, own, 8, component).value == pytest.approx(1.2 / 5, rel=0.05)
    assert find(rows, own, 8, component).verdict == "met"
    assert find(rows, own, 32, component).verdict == "missed"
    split = find(rows, "loop period of Ibarrier + Wait / 0.12 µs", 2, "MPI_Ibarrier [component]")
    assert split.verdict == "met"


def test_what_was_measured_in_different_situations_is_paired_by_pass(rows):
    apart = find(rows, "loop period, a control group each / all in one", 4, "MPI_Barrier [component]")
    assert (apart.value, apart.verdict) == (pytest.approx(1.5, rel=0.05), "met")
    skew = find(rows, "exit skew / that of Intel MPI", 8, "MPI_Barrier [preload]")
    assert (skew.value, skew.verdict) == (pytest.approx(0.5), "met")
    assert find(rows, "exit skew / 2.7 µs", 4, "MPI_Barrier [component]").value == pytest.approx(1.4 / 2.7)


def test_what_happens_once_a_launch_is_judged(rows):
    door = "MPI_Barrier [component]"
    assert find(rows, "CPU time of a waiter / the 1 s that it waits", 4, door).value == pytest.approx(0.005)
    assert find(rows, "wake-up after 1 s / 60 µs", 4, door).value == pytest.approx(5 / 6)
    set_up = "dup and first barrier / those of the MPI alone"
    assert find(rows, set_up, 8, door).verdict == "met"
    assert find(rows, set_up, 8, "MPI_Barrier [preload]").verdict == "missed"


def test_what_was_left_out_says_why(tmp_path, jobs):
    rows = targets.evaluate(found(tmp_path, ranks=(4,), mpis=("openmpi",), launches=1))
    assert find(rows, "loop period / B(N)", 8, "MPI_Barrier [preload]").verdict.startswith("not measured: ")
    skew = find(rows, "exit skew / that of Intel MPI", 4, "MPI_Barrier [preload]")
    assert skew.verdict == "not measured: no Intel MPI in this run"
    assert find(rows, "loop period / B(N)", 4, "MPI_Barrier [preload]").verdict.startswith("too few launches")


def test_the_floors_are_said_in_words(tmp_path, jobs):
    said = targets.floors(found(tmp_path, ranks=(2, 8), launches=1))
    assert said == ["one cache-line transfer: 0.03 µs", "B(8): 4.2 µs"]

# SPDX-License-Identifier: Apache-2.0
"""Campaigns over MPIs, with replays in place of the measuring programs and their launchers."""

import pytest
from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings, passes
from tollbar.campaigns.campaign import Request
from tollbar.data import results
from tollbar.machine import mpi_hosts, mpis

OPEN_MPI = {f"openmpi-4.1.4.{name}" for name in ("stock", "linear", "coll-basic", "component", "preload")}


def request(**changed):
    usual = {"ranks": (2, 4), "mpis": (), "hosts": 1, "launches": 2, "rounds": 2, "budget_s": 300.0}
    return Request(**usual | changed)


def prepared(request):
    with mpi_campaign.prepared(request) as found:
        return found


def measure(tmp_path, **changed):
    said = []
    with mpi_campaign.prepared(request(**changed)) as (work, notes):
        outcome = passes.measure(work, notes, tmp_path / "runs", lambda *each: said.append(each))
    return outcome, results.read(outcome.folder), said


def test_every_situation_has_every_setting_once_in_each_pass(tmp_path, jobs):
    outcome, run, said = measure(tmp_path)
    assert (outcome.passes, outcome.failures) == (2, [])
    groups = {}
    for launch in run.launches:
        groups.setdefault(launch.number, []).append(launch)
    assert len(groups) == 2 * 5  # Open MPI with 2, 4 and 4 apart; MPICH and Intel MPI with 4
    for launches in groups.values():
        facts = [each.environment for each in launches]
        assert len({(each["mpi"], each["ranks"], each["apart"]) for each in facts}) == 1
        names = {each.program for each in launches}
        assert len(names) == len(launches)
        if facts[0]["mpi"] == "Open MPI 4.1.4" and facts[0]["apart"] == "launcher":
            assert names == OPEN_MPI
    assert said[0][2].endswith("pass 1 of 2")
    assert said[-1] == (10, 10, "done")


def test_two_ranks_are_pinned_and_more_are_free(tmp_path, jobs):
    run = measure(tmp_path, launches=1)[1]
    placed = {(each.environment["ranks"], each.environment["placement"]) for each in run.launches}
    assert placed == {(2, "pinned"), (4, "free")}


def test_ranks_load_a_preload_and_their_launcher_does_not(tmp_path, jobs, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "")
    run = measure(tmp_path, launches=1)[1]
    doors = {each.program.partition(".s")[0]: each.environment["door"] for each in run.launches}
    assert doors["mpich-4.0.2.preload"] == "preload"  # the launcher of the replays fails when it is preloaded
    assert doors["openmpi-4.1.4.component"] == "component"


def test_choices_are_stored_beside_the_run_and_nothing_of_the_user_tunes_it(tmp_path, jobs, monkeypatch):
    monkeypatch.setenv("OMPI_MCA_coll_tuned_barrier_algorithm", "5")
    monkeypatch.setenv("TOLLBAR_PLAN", "central")
    outcome, run, _ = measure(tmp_path, launches=1)
    tuning = str((outcome.folder / "tuning").absolute())
    assert {each.environment["tuning"] for each in run.launches} == {tuning}
    work, _ = prepared(request())
    where = work.situations[0]
    environment = work.start("openmpi-4.1.4.stock", where, 1, 1).environment
    assert "PATH" in environment
    assert [name for name in environment if name.startswith(("OMPI_", "TOLLBAR_"))] == ["TOLLBAR_TUNING"]


def test_what_spins_is_launched_once_where_the_preload_has_it_beside_itself(tmp_path, jobs):
    run = measure(tmp_path, launches=1, mpis=("mpich",))[1]
    assert {each.program for each in run.launches} == {"mpich-4.0.2.preload"}
    assert {batch["name"] for batch in run.launches[0].records["batch"]} == {"MPI_Barrier", "PMPI_Barrier"}


def test_what_spins_is_not_measured_with_many_ranks(jobs):
    work, _ = prepared(request(ranks=(16, 32), mpis=("mpich", "openmpi")))
    assert {(where.mpi.family, where.ranks) for where in work.situations} == {
        ("openmpi", 16), ("openmpi", 32), ("mpich", 16),
    }  # fmt: skip


def test_only_what_was_asked_for_is_measured(tmp_path, jobs):
    run = measure(tmp_path, launches=1, mpis=("openmpi",), only=("tree", "mcs"))[1]
    assert {each.program for each in run.launches} == {"openmpi-4.1.4.stock", "openmpi-4.1.4.tree"}
    stock = next(each for each in run.launches if each.program.endswith("stock"))
    assert {batch["name"] for batch in stock.records["batch"]} == {"MPI_Barrier", "mcs"}


def test_a_full_run_has_every_barrier_of_the_mpi(jobs):
    work, _ = prepared(request(full=True))
    four = next(where for where in work.situations if (where.mpi.family, where.ranks) == ("openmpi", 4))
    names = {each.name for each in mpi_settings.own_settings(four.mpi)}
    assert {"linear", "double ring", "recursive doubling", "bruck", "tree", "coll/sm", "coll/han", "coll/basic"} < names
    ours = len(mpi_settings.DOORS + mpi_settings.WATCHED)
    assert len(work.programs(four)) == len(names - {"two-proc"}) + ours
    assert "openmpi-4.1.4.two-proc" not in work.programs(four)


def test_what_intel_mpi_needs_is_set_for_its_launcher_and_not_again_for_its_ranks(jobs):
    work, _ = prepared(request())
    (where, *_) = [each for each in work.situations if each.mpi.family == "impi"]
    words = work.start(work.programs(where)[0], where, rounds=1, seed=1).command
    at = [str(where.mpi.launcher) in word for word in words].index(True)
    assert "I_MPI_PIN=0" in words[:at]
    assert not [word for word in words[at:] if word.startswith("I_MPI_")]


def test_one_of_each_family_is_measured_unless_others_are_named(jobs, monkeypatch):
    newer = mpis.Mpi("openmpi", "5.0.11", jobs / "mpirun")
    there = [newer, *mpis.installed()]
    monkeypatch.setattr(mpis, "installed", lambda: there)
    assert [mpi.name for mpi in mpi_campaign.chosen((), full=False)] == [
        "Open MPI 4.1.4", "Intel MPI 2021.19", "MPICH 4.0.2",
    ]  # fmt: skip
    assert mpi_campaign.chosen(("openmpi5",), full=False) == [newer]
    assert len(mpi_campaign.chosen(("openmpi",), full=False)) == 2
    assert len(mpi_campaign.chosen((), full=True)) == 4
    with pytest.raises(FileNotFoundError, match="no MPI 'lam' here; there are: openmpi-5"):
        mpi_campaign.chosen(("lam",), full=False)


def test_a_program_that_is_not_built_is_noted(jobs):
    (jobs / "tollbar-bench-mpi-mpich").unlink()
    work, notes = prepared(request())
    assert notes[0].startswith("MPICH 4.0.2 is not measured: the program tollbar-bench-mpi-mpich is not there")
    assert {where.mpi.family for where in work.situations} == {"openmpi", "impi"}


def test_a_door_that_is_not_built_is_noted(jobs):
    for name in ("mca_coll_tollbar.so", "libtollbar_mpi_mpich.so"):
        (jobs.parent / name).unlink()
    notes = prepared(request())[1]
    assert "mca_coll_tollbar.so is not measured: it is not built for Open MPI 4.1.4" in notes
    assert "libtollbar_mpi_mpich.so is not measured: it is not built" in notes


def test_without_any_program_there_is_nothing_to_do(jobs):
    for program in jobs.iterdir():
        program.unlink()
    with pytest.raises(FileNotFoundError, match=r"Open MPI 4\.1\.4 is not measured"):
        prepared(request())


def test_a_launch_that_fails_is_noted_and_the_others_go_on(tmp_path, jobs):
    (jobs / "tollbar-bench-mpi-mpich").write_text("#!/bin/sh\nexit 7\n")
    outcome, run, _ = measure(tmp_path, launches=1)
    assert len(outcome.failures) == 1
    assert "MPICH 4.0.2, 4 ranks, pass 1 of 1: mpich-4.0.2." in outcome.failures[0]
    assert {each.environment["mpi"] for each in run.launches} == {"Open MPI 4.1.4", "Intel MPI 2021.19"}


@pytest.fixture
def three_hosts(monkeypatch):
    """Hosts by name only."""
    monkeypatch.setattr(mpi_hosts.Hosts, "__enter__", lambda self: self)
    monkeypatch.setattr(mpi_hosts.Hosts, "__exit__", lambda *_: None)
    monkeypatch.setattr(mpi_hosts.Hosts, "options", lambda *_: [])
    monkeypatch.setattr(mpi_hosts.Hosts, "addresses", lambda _: {f"h{n}": f"10.0.0.{n}" for n in (1, 2, 3)})
    return request(hosts=3, ranks=(3,), mpis=("openmpi",))


def test_over_hosts_each_door_is_measured_by_messages_and_on_cards(jobs, three_hosts, monkeypatch):
    monkeypatch.setattr(mpi_campaign, "_why_no_nics", lambda: None)
    work, notes = prepared(three_hosts)
    (where,) = work.situations
    doors = {f"openmpi-4.1.4.{door}-on-cards" for door in ("component", "preload")}
    assert set(work.programs(where)) == OPEN_MPI | doors
    assert not [note for note in notes if "cards" in note]
    command = work.start("openmpi-4.1.4.preload-on-cards", where, 2, 1).command
    before, after = command[: command.index("--")], command[command.index("--") :]
    assert before[1:] == ["-m", "tollbar.machine.nic_daemons", "h1", "h2", "h3"]
    assert "TOLLBAR_NETWORK=nic" in after
    assert "{nics}" in after
    assert "TOLLBAR_NETWORK=nic" not in work.start("openmpi-4.1.4.preload", where, 2, 1).command


def test_without_a_card_daemon_hosts_are_measured_by_messages_alone(jobs, three_hosts, monkeypatch):
    monkeypatch.setattr(mpi_campaign, "_why_no_nics", lambda: "it is not built")
    work, notes = prepared(three_hosts)
    assert set(work.programs(work.situations[0])) == OPEN_MPI
    assert [note for note in notes if "NICs are not measured: it is not built" in note]

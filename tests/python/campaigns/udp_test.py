# SPDX-License-Identifier: Apache-2.0
"""What is started for barriers between hosts, what is said where there are none, and what is compared."""

import os
from pathlib import Path

import pytest
from tollbar.campaigns import mpi as mpi_campaign
from tollbar.campaigns import mpi_settings
from tollbar.campaigns import udp as udp_campaign
from tollbar.campaigns.campaign import Request
from tollbar.campaigns.udp import Datagrams
from tollbar.data import places
from tollbar.machine import doors, mpi_hosts, paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi
from tollbar.report import sections

OPEN_MPI = Mpi("openmpi", "4.1.4", Path("/there/mpirun"))


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr(mpi_campaign.mpis, "installed", lambda: [OPEN_MPI])
    monkeypatch.setattr(paths, "program", lambda name: Path("/built") / name)


def request(**more) -> Request:
    usual = {"ranks": (2, 4), "launches": 1, "rounds": 1, "budget_s": 9.0, "batch_us": 1000}
    return Request(**usual | more)


class TwoHosts(Hosts):
    """Hosts that nobody makes."""

    def _call(self, *words: str) -> str:
        return {"list": "a 10.77.0.1\nb 10.77.0.2\n", "options": "--host a,b"}[words[0]]


def started(work: Datagrams, program: str, ranks: int) -> str:
    where = next(each for each in work.situations if each.ranks == ranks)
    return " ".join(work.start(program, where, 1, 7).command)


def test_ranks_are_put_on_hosts_and_the_mpi_on_the_same():
    work = Datagrams(request(), TwoHosts(2), (OPEN_MPI, Path("/built/mpi")))
    text = started(work, "udp", 2)
    assert "/built/tollbar-bench-udp --ranks 2 --hosts a=10.77.0.1,b=10.77.0.2" in text
    assert "--rounds 1 --seed 7" in text
    text = started(work, "mpi.bruck", 2)
    assert "/there/mpirun --host a,b -n 2 env OMPI_MCA_coll_tuned_use_dynamic_rules=1" in text
    assert "--setting bruck" in text
    assert "--only MPI_Barrier" in text


def test_without_hosts_the_mpi_still_goes_by_tcp():
    work = Datagrams(request(), Hosts(1), (OPEN_MPI, Path("/built/mpi")))
    assert "--mca btl tcp,self" in started(work, "mpi.stock", 4)
    assert "--hosts" not in started(work, "udp", 4)


def test_cards_are_measured_where_they_are_asked_for():
    assert "card:" not in started(Datagrams(request(), TwoHosts(2), None), "udp", 4)
    text = started(Datagrams(request(nics=True), TwoHosts(2), None), "udp", 4)
    assert "--cards yes" in text
    assert "card:pairwise+auto,card:gather+auto,card:switch+auto" in text


def test_the_mpi_calls_the_cards_too_each_rank_by_the_daemon_of_its_host(monkeypatch):
    monkeypatch.setattr(doors, "component", lambda _: Path("/built/openmpi/mca_coll_tollbar.so"))
    work = Datagrams(request(nics=True), TwoHosts(2), (OPEN_MPI, Path("/built/mpi")))
    text = started(work, "mpi.component-on-cards", 2)
    assert "-m tollbar.machine.nic_daemons a b -- /there/mpirun --host a,b -n 2 env" in text
    assert "TOLLBAR_PLAN=turnstile/pairwise TOLLBAR_NETWORK=nic" in text
    assert 'export TOLLBAR_NICD="$0/$(hostname)"; exec "$@" {nics} /built/mpi --setting component on cards' in text
    without = Datagrams(request(), TwoHosts(2), (OPEN_MPI, Path("/built/mpi")))
    assert "mpi.component-on-cards" not in without.programs(without.situations[0])


@pytest.mark.parametrize("door", ["component", "preload"])
def test_hb_and_nb_are_one_call_of_one_plan_and_differ_in_the_network_alone(monkeypatch, door):
    there = Path("/built/lib.so")
    monkeypatch.setattr(doors, "component", lambda _: there if door == "component" else None)
    monkeypatch.setattr(doors, "preload", lambda _: there)
    by_messages, on_cards = udp_campaign.mpi_doors(TwoHosts(2), OPEN_MPI)
    (by_choice,) = mpi_settings.by_choice([on_cards])
    assert (by_messages.name, on_cards.name) == (f"{door} by messages", f"{door} on cards")
    assert by_messages.variables["TOLLBAR_PLAN"] == "turnstile/pairwise"
    assert by_messages.variables["TOLLBAR_NETWORK"] == "p2p"
    assert {**by_messages.variables, "TOLLBAR_NETWORK": "nic"} == on_cards.variables
    assert by_choice.name == f"{door} on cards by choice"
    assert {**by_choice.variables, "TOLLBAR_PLAN": "turnstile/pairwise"} == on_cards.variables
    assert udp_campaign.mpi_doors(Hosts(1), OPEN_MPI) == []


def test_a_setting_for_two_is_for_two(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    work = Datagrams(request(), Hosts(1), (OPEN_MPI, Path("/built/mpi")))
    assert [("mpi.two-proc" in work.programs(where)) for where in work.situations] == [True, False]
    assert [("pairwise+spin" in started(work, "udp", ranks)) for ranks in (2, 4)] == [True, False]


def test_with_full_every_plan_and_every_algorithm_of_the_mpi_over_tcp_is_measured():
    work = Datagrams(request(full=True), Hosts(1), (OPEN_MPI, Path("/built/mpi")))
    assert "--only" not in started(work, "udp", 4)
    programs = work.programs(work.situations[1])
    assert "mpi.linear" in programs
    assert not any("coll" in name for name in programs)


def test_where_hosts_cannot_be_made_the_loopback_is_measured_and_that_is_said(monkeypatch):
    monkeypatch.setattr(mpi_hosts.paths, "checkout", lambda: None)
    with udp_campaign.prepared(request()) as (work, notes):
        assert work.facts()["network"] == "loopback"
    assert notes == [
        "all ranks are on the loopback, not on hosts of their own: "
        "hosts are made by scripts/hosts, which only a checkout has"
    ]


def launch(number: int, program: str, periods_us: dict[tuple[str, str], float], **facts) -> tuple:
    lines = [{"record": "environment", "ranks": 4, "placement": "free", "usable": 2, **facts}]
    for (name, kind), us in periods_us.items():
        told = {"round": 0, "name": name, "kind": kind, "wait": "auto"}
        counted = {"voluntary": 0, "involuntary": 0, "cut": False}
        times = {"episodes": 10, "elapsed_ns": 1e4 * us, "cpu_ns": 2e4 * us}
        lines.append({"record": "batch"} | told | times | counted)
        stamped = {"latency_ns": [1e3 * us], "skew_ns": [1.0], "span_ns": [1e3 * us]}
        lines.append({"record": "episodes"} | told | stamped)
    return number, program, [*lines, {"record": "done"}]


@pytest.fixture
def found(as_samples):
    """Two passes on the loopback; the machine is twice as slow in the second."""
    mpi = {"mpi": "Open MPI 4.1.4"}
    launches = [
        each
        for number, slow in ((0, 1.0), (1, 2.0))
        for each in (
            launch(number, "udp", {("pairwise", "udp"): 100 * slow, ("mcs", "udp"): 150 * slow}, network="loopback"),
            launch(number, "mpi.stock", {("MPI_Barrier", "mpi"): 300 * slow}, **mpi),
            launch(number, "mpi.bruck", {("MPI_Barrier", "mpi"): 200 * slow}, setting="bruck", **mpi),
        )
    ]
    return as_samples(*launches, kind="udp", network="loopback", mpis={"Open MPI 4.1.4": ""})


def test_a_barrier_is_compared_with_the_mpis_default_and_its_best_of_the_same_pass(found):
    rows = sections.udp_rows(places.by_ranks(found))
    names = [row["candidate"].label for row in rows]
    assert names == ["pairwise", "mcs", "MPI_Barrier [bruck]", "MPI_Barrier"]
    assert rows[0]["period"].value == pytest.approx(150e3)
    assert rows[0]["cpu"].value == pytest.approx(300e3)
    assert rows[0]["of_default"].value == pytest.approx(3.0)
    assert rows[0]["of_best"].value == pytest.approx(2.0)
    assert rows[2]["of_default"] is None
    assert (rows[0]["of_best"].low, rows[0]["of_best"].count) == (None, 2)


def test_the_report_says_where_it_was_measured(found):
    section = sections.udp(found)
    assert section.more["network"] == "all on this machine's loopback"
    assert section.more["mpi"] == "Open MPI 4.1.4"
    assert section.figures == []  # one number of hosts makes no curve
    assert sections.udp(None) is None

# SPDX-License-Identifier: Apache-2.0
"""Nodes that meet on their network cards: hosts out of network namespaces, each with a daemon."""

import re
import subprocess
from pathlib import Path

import pytest
from tollbar.machine import mpi_hosts, nic_daemon, paths

HOSTS = 3
SLOTS = 2
RANKS = HOSTS * SLOTS
ON_CARDS = "turnstile/card:"


pytestmark = pytest.mark.usefixtures("hosts_can_have_nics")


class Cluster:
    """Hosts whose names end in 1, 2, 3, with a daemon each."""

    def __init__(self, hosts: mpi_hosts.Hosts, folder: Path):
        self.hosts, self.folder = hosts, folder
        self.names = list(hosts.addresses())
        self.daemons = {name: self.start(name) for name in self.names}

    def start(self, name: str, *options: str) -> subprocess.Popen:
        command = [paths.program("tollbar-nicd"), "--interface", "eth0", "--socket", self.folder / name, *options]
        daemon = subprocess.Popen(["ip", "netns", "exec", name, *map(str, command)], stdout=subprocess.PIPE, text=True)
        if daemon.stdout.readline() != "ready\n":
            pytest.skip("the daemon does not start: no right to load BPF programs, or an old kernel")
        return daemon

    def arrivals(self) -> list[int]:
        """How often a host has posted an arrival to its NIC, by host."""
        return [nic_daemon.status(str(self.folder / name))["counts"]["arrivals"] for name in self.names]

    def settings(self, door, network: str | None, slots: int = SLOTS, daemon="$(hostname)", **variables):
        """What start() and run() are told so that the ranks are on the hosts. `daemon` is a word of the
        shell's that names a rank's daemon, the variables are for all ranks."""
        every = {"TOLLBAR_TUNING": self.folder / "tuning", "UCX_NET_DEVICES": "eth0", **variables}
        if network:
            every["TOLLBAR_NETWORK"] = network
        own = f'export TOLLBAR_NICD={self.folder}/{daemon}; exec "$@"'
        words = [*(f"{name}={value}" for name, value in every.items()), "sh", "-c", own, "sh"]
        return {"options": self.hosts.options(door.mpi, slots), "before": ["env", *words]}

    def kill(self, name: str) -> None:
        self.daemons[name].kill()
        self.daemons[name].wait()

    def end(self) -> None:
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
            daemon.stdout.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with mpi_hosts.Hosts(HOSTS) as hosts:
        made = Cluster(hosts, tmp_path_factory.mktemp("cards"))
        yield made
        made.end()


def component_alone(test):
    """Of what does not depend on the door."""
    return pytest.mark.parametrize("open_mpi_door", ["component"], indirect=True)(test)


def plans_of(said: str) -> set[str]:
    return set(re.findall(r"\(\d+ ranks\): (\S+)", said))


def test_nobody_leaves_before_the_last_has_entered_whoever_is_late(cluster, run, open_mpi_door):
    before = cluster.arrivals()
    plans = ["", "turnstile/mcs", "turnstile/card", "central@2/dissemination"]
    settings = cluster.settings(open_mpi_door, "nic", TOLLBAR_VERBOSE="1")
    said = run(open_mpi_door, RANKS, "late_rank", RANKS, *plans, **settings).said
    ran = plans_of(said)
    assert {f"{ON_CARDS}mcs", "turnstile/card", "central@2/card:dissemination"} <= ran
    assert len([plan for plan in ran if "/card" in plan]) == len(ran), ran
    for host, count in zip(before, cluster.arrivals(), strict=True):
        assert count - host >= len(plans) * (RANKS - 1)


@pytest.mark.parametrize("door", ["mpich"], indirect=True)
def test_ranks_of_mpich_meet_on_nics_too(cluster, start, door):
    before = cluster.arrivals()
    settings = cluster.settings(door, "nic", 1, TOLLBAR_VERBOSE="1")
    job = start(door, HOSTS, "late_rank", HOSTS, "turnstile/mcs", **settings)
    # With UCX confined to TCP it may hang in MPI_Finalize, see tests/scripts/hosts_test.py.
    job.await_that(lambda: min(job.corners(HOSTS)) > 0, "the last barrier")
    job.end()
    assert f"({HOSTS} ranks): {ON_CARDS}mcs" in job.said()
    assert "FAILED" not in job.said()
    for host, count in zip(before, cluster.arrivals(), strict=True):
        assert count - host >= HOSTS - 1


@component_alone
def test_communicators_that_overlap_or_nest_have_groups_of_their_own(cluster, run, open_mpi_door):
    run(open_mpi_door, RANKS, "overlapping", "", **cluster.settings(open_mpi_door, "nic"))


def test_barriers_in_flight_are_completed_in_any_order(cluster, run, open_mpi_door):
    run(open_mpi_door, HOSTS, "in_flight", "turnstile/card", **cluster.settings(open_mpi_door, None, 1))


def test_communicators_come_and_go_and_groups_do_not_run_out(cluster, run, open_mpi_door):
    run(open_mpi_door, HOSTS, "growth", 300, **cluster.settings(open_mpi_door, "nic", 1))


@component_alone
def test_p2p_leaves_the_nic_alone(cluster, run, open_mpi_door):
    before = cluster.arrivals()
    run(open_mpi_door, HOSTS, "late_rank", HOSTS, "", "turnstile/mcs", **cluster.settings(open_mpi_door, "p2p", 1))
    assert cluster.arrivals() == before


@component_alone
def test_auto_measures_nics_too_and_stores_what_it_chose(cluster, run, open_mpi_door):
    before = cluster.arrivals()
    run(open_mpi_door, HOSTS, "late_rank", HOSTS, "", **cluster.settings(open_mpi_door, None, 1))
    assert all(now > then for then, now in zip(before, cluster.arrivals(), strict=True))
    assert f"ranks={HOSTS} nodes={HOSTS}" in (cluster.folder / "tuning").read_text().partition("+cards")[0]


@component_alone
def test_communicators_beyond_what_a_nic_holds_use_messages_together(cluster, run, open_mpi_door):
    name = cluster.names[2]
    cluster.kill(name)
    cluster.daemons[name] = cluster.start(name, "--groups", "2")
    settings = cluster.settings(open_mpi_door, "nic", TOLLBAR_VERBOSE="1")
    said = run(open_mpi_door, RANKS, "overlapping", "turnstile/mcs", **settings)
    cluster.kill(name)
    cluster.daemons[name] = cluster.start(name)
    assert plans_of(said.said) >= {f"{ON_CARDS}mcs", "turnstile/mcs"}
    assert any("this NIC has 2 groups already" in line for line in said.lines_of_tollbar())


@component_alone
@pytest.mark.parametrize(("network", "verbose"), [("nic", "0"), (None, "1"), (None, None)])
def test_a_host_without_a_daemon_has_all_meet_by_messages_which_is_said(cluster, run, open_mpi_door, network, verbose):
    before = cluster.arrivals()
    variables = {"TOLLBAR_VERBOSE": verbose} if verbose else {}
    settings = cluster.settings(open_mpi_door, network, daemon="$(hostname | sed 's:h2$:none:')", **variables)
    outcome = run(open_mpi_door, RANKS, "late_rank", RANKS, "turnstile/mcs", **settings)
    lines = [line for line in outcome.lines_of_tollbar() if "using messages" in line]
    assert cluster.arrivals() == before
    if network or verbose == "1":
        assert len(lines) == 1, outcome.said
        assert f"rank {SLOTS} (host {cluster.names[1]}) has no tollbar NIC daemon" in lines[0]
    else:
        assert lines == []


@component_alone
def test_ranks_that_were_told_different_networks_are_named_and_use_messages(cluster, run, open_mpi_door):
    # The last value of a variable counts.
    host = cluster.names[0]
    told = f"x TOLLBAR_NETWORK=$(if [ $(hostname) = {host} ]; then echo p2p; else echo nic; fi)"
    settings = cluster.settings(open_mpi_door, None, 1, daemon=told)
    (line,) = run(open_mpi_door, HOSTS, "late_rank", HOSTS, "mcs", **settings).lines_of_tollbar()
    assert "the ranks disagree about the network: rank 0 'p2p', rank 1 'nic'" in line


@component_alone
def test_an_unknown_network_is_one_line_that_names_the_known_ones(cluster, run, open_mpi_door):
    settings = cluster.settings(open_mpi_door, "fast", 1)
    (line,) = run(open_mpi_door, HOSTS, "late_rank", HOSTS, "mcs", **settings).lines_of_tollbar()
    assert "TOLLBAR_NETWORK is 'fast'; accepted: auto, p2p, nic; " in line


@component_alone
def test_a_plan_that_does_not_fit_a_nic_runs_by_messages_which_is_said(cluster, run, open_mpi_door):
    settings = cluster.settings(open_mpi_door, "nic", TOLLBAR_VERBOSE="1")
    said = run(open_mpi_door, RANKS, "late_rank", RANKS, "mcs", **settings)
    assert plans_of(said.said) >= {"mcs"}
    assert any("no part of 'mcs' goes on between nodes alone" in line for line in said.lines_of_tollbar())


@component_alone
def test_a_late_node_is_named_by_its_nic(cluster, start, open_mpi_door):
    settings = cluster.settings(open_mpi_door, "nic", TOLLBAR_TIMEOUT="1")
    job = start(open_mpi_door, 5, "missing", "barrier", "loop", **settings)
    job.await_that(lambda: job.told() == 1, "the rank stays away")
    job.await_that(lambda: "has not arrived, its last" in job.said() and "nothing heard" in job.said(), "reports")
    host = cluster.names[1]
    assert re.search(
        rf"rank 0 .*on {cluster.names[0]} has waited .*: nothing heard from ranks 2 and 3 \(.*host {host}\)", job.said()
    )
    assert re.search(
        rf"rank 3 .*on {host} has waited .*: rank 2 \(.*host {host}, process \d+\) has not arrived", job.said()
    )
    job.tell(1)
    outcome = job.finish()
    assert (outcome.code, "passed: " in outcome.said) == (0, True), outcome.said


def test_a_killed_daemon_is_an_error_of_the_ranks_of_its_host_and_nobody_leaves_early(cluster, start, open_mpi_door):
    job = start(open_mpi_door, RANKS, "lost_nic", SLOTS, **cluster.settings(open_mpi_door, "nic"))
    job.await_that(lambda: job.told() > 50, "some barriers")
    name = cluster.names[1]
    cluster.kill(name)
    outcome = job.finish()
    cluster.daemons[name] = cluster.start(name)
    assert re.findall(r"rank (\d) was told, and again: 1", "".join(sorted(outcome.said.splitlines(True)))) == ["2", "3"]
    lines = [line for line in outcome.lines_of_tollbar() if "daemon of this host is gone" in line]
    assert len(lines) == 1, outcome.said
    assert f"rank 2 on {name}" in lines[0]
    assert "tollbar nic up" in lines[0]
    assert "FAILED" not in outcome.said


@pytest.mark.parametrize("door", ["openmpi"], indirect=True)
def test_all_threads_of_a_combined_barrier_get_the_error_of_a_killed_daemon(cluster, start, door):
    job = start(door, RANKS, "lost_nic_threads", 2 * SLOTS, **cluster.settings(door, "nic"))
    job.await_that(lambda: job.told() > 50, "some barriers")
    name = cluster.names[0]
    cluster.kill(name)
    outcome = job.finish()
    cluster.daemons[name] = cluster.start(name)
    told = sorted(re.findall(r"rank (\d), thread (\d): Broken pipe", outcome.said))
    assert told == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")], outcome.said
    assert "FAILED" not in outcome.said

# SPDX-License-Identifier: Apache-2.0
"""How workloads are started over each transport, and what of it stands side by side."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tollbar.campaigns import work as work_campaign
from tollbar.campaigns import work_over
from tollbar.campaigns.campaign import Asked
from tollbar.campaigns.work import Working
from tollbar.data import workloads
from tollbar.data.places import Candidate
from tollbar.machine import paths
from tollbar.machine.mpi_hosts import Hosts
from tollbar.machine.mpis import Mpi

OPEN_MPI = Mpi("openmpi", "4.1.4", Path("/there/mpirun"))


class FourHosts(Hosts):
    """Hosts that nobody makes."""

    def _call(self, *words: str) -> str:
        names = [f"h{number} 10.77.0.{number}" for number in range(1, 5)]
        return {"list": "\n".join(names), "options": "--host h1,h2,h3,h4"}[words[0]]


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(paths, "program", lambda name: Path("/built") / name)


def campaign(over, **more) -> Working:
    usual = {"ranks": (2, 4), "workloads": ("64~0.2", "360us"), "launches": 1, "rounds": 1, "budget_s": 9.0}
    return Working(Asked(**usual | more), over)


def started(work: Working, program: str, ranks: int) -> str:
    where = next(each for each in work.situations if each.ranks == ranks)
    return " ".join(work.start(program, where, 1, 7).command)


def test_hosts_their_cards_and_an_mpi_are_one_situation():
    over = work_over.over_hosts(FourHosts(4), True, (OPEN_MPI, Path("/built/mpi")))
    work = campaign(over)
    assert [where.over for where in work.situations] == ["hosts", "hosts"]
    assert work.programs(work.situations[0]) == ["udp", "mpi.stock", "mpi.recursive-doubling"]
    text = started(work, "udp", 4)
    assert "/built/tollbar-bench-udp --ranks 4 --hosts h1=10.77.0.1,h2=10.77.0.2" in text
    assert "--only pairwise+auto,card:pairwise+auto,card:switch+auto --workload 64~0.2,360us" in text
    text = started(work, "mpi.recursive-doubling", 4)
    assert "/there/mpirun --host h1,h2,h3,h4 -n 4 env OMPI_MCA_coll_tuned" in text
    assert "--only MPI_Barrier" in text
    assert "/there/mpirun --host h1,h2 -n 2 env" in started(work, "mpi.stock", 2)


def test_hosts_that_share_processors_are_away_while_they_compute():
    work = campaign(work_over.over_hosts(FourHosts(4), True, (OPEN_MPI, Path("/built/mpi"))))
    for program in work.programs(work.situations[0]):
        assert "--computing busy --placement pinned" in started(work, program, 2)
        assert "--computing away --placement free" in started(work, program, 4)


def test_names_choose_among_barriers_of_hosts_and_leave_the_mpi_beside_them():
    over = work_over.over_hosts(FourHosts(4), False, (OPEN_MPI, Path("/built/mpi")))
    work = campaign(over, only=("mcs+park",))
    assert "--only mcs+park" in started(work, "udp", 4)
    assert "--only MPI_Barrier" in started(work, "mpi.stock", 4)
    assert "--cards" not in started(work, "udp", 4)


def test_pes_do_nothing_but_the_workload():
    text = started(campaign([work_over.OverPes()]), "shmem", 2)
    assert "/built/tollbar-bench-shmem --away-ms 0 --skew-us 0 --placement pinned" in text


def test_ten_thousand_runs_of_the_longest_application_may_take_hours():
    work = campaign([work_over.OverThreads()], batch_us=100_000_000, full=True)
    start = work.start("threads", work.situations[0], 1, 7)
    assert start.command[3] == "7200"
    assert start.limit_s > 7200
    assert " ".join(start.command).endswith("--batch-us 100000000")


def test_every_figure_has_its_workloads_in_the_quick_list_too():
    for wanted in ("0", "129.75", "4096", "64~0.2", "4096~0.2", *work_campaign.APPLICATIONS):
        assert wanted in work_campaign.QUICK
    assert set(work_campaign.QUICK) <= set(work_campaign.WORKLOADS)


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

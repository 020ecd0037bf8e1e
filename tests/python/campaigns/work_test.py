# SPDX-License-Identifier: Apache-2.0
"""How workloads are started over each transport."""

import os
from pathlib import Path

import pytest
import tollbar
from tollbar.campaigns import campaign as campaign_module
from tollbar.campaigns import work as work_campaign
from tollbar.campaigns import work_over
from tollbar.campaigns.campaign import Request
from tollbar.campaigns.work import Working
from tollbar.machine import doors, paths
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
    monkeypatch.setattr(doors, "component", lambda _: Path("/built/openmpi/mca_coll_tollbar.so"))


def campaign(over, **more) -> Working:
    usual = {"ranks": (2, 4), "workloads": ("64~0.2", "360us"), "launches": 1, "rounds": 1, "budget_s": 9.0}
    return Working(Request(**usual | more), over)


def started(work: Working, program: str, ranks: int) -> str:
    where = next(each for each in work.situations if each.ranks == ranks)
    return " ".join(work.start(program, where, 1, 7).command)


def test_hosts_their_cards_and_an_mpi_are_one_situation():
    over = work_over.of_hosts(FourHosts(4), True, (OPEN_MPI, Path("/built/mpi")))
    work = campaign(over)
    assert [where.over for where in work.situations] == ["hosts", "hosts"]
    assert work.programs(work.situations[0]) == [
        "udp", "mpi.stock", "mpi.recursive-doubling", "mpi.component-by-messages", "mpi.component-on-cards",
    ]  # fmt: skip
    text = started(work, "udp", 4)
    assert "/built/tollbar-bench-udp --ranks 4 --hosts h1=10.77.0.1,h2=10.77.0.2" in text
    assert "--only pairwise+auto,card:pairwise+auto,card:switch+auto --workload 64~0.2,360us" in text
    text = started(work, "mpi.recursive-doubling", 4)
    assert "/there/mpirun --host h1,h2,h3,h4 -n 4 env OMPI_MCA_coll_tuned" in text
    assert "--only MPI_Barrier" in text
    assert "/there/mpirun --host h1,h2 -n 2 env" in started(work, "mpi.stock", 2)


def test_hosts_that_share_processors_are_away_while_they_compute():
    work = campaign(work_over.of_hosts(FourHosts(4), True, (OPEN_MPI, Path("/built/mpi"))))
    for program in work.programs(work.situations[0]):
        assert "--computing busy --placement pinned" in started(work, program, 2)
        assert "--computing away --placement free" in started(work, program, 4)


def test_mpi_barrier_is_measured_by_messages_and_on_the_cards_of_the_hosts():
    work = campaign(work_over.of_hosts(FourHosts(4), True, (OPEN_MPI, Path("/built/mpi"))))
    by_messages, on_cards = (started(work, f"mpi.component-{how}", 4) for how in ("by-messages", "on-cards"))
    for text in (by_messages, on_cards):
        assert "TOLLBAR_PLAN=turnstile/pairwise" in text
        assert "--computing away --placement free --rounds 1 --seed 7" in text
        assert "--only MPI_Barrier --workload 64~0.2,360us" in text
    assert "TOLLBAR_NETWORK=p2p" in by_messages
    assert "TOLLBAR_NETWORK=nic" in on_cards
    assert "-m tollbar.machine.nic_daemons h1 h2 h3 h4 --" in on_cards
    without = campaign(work_over.of_hosts(FourHosts(4), False, (OPEN_MPI, Path("/built/mpi"))))
    assert not [name for name in without.programs(without.situations[0]) if "component" in name]


def test_the_loops_of_the_paper_are_those_of_all_launches_together():
    work = campaign([work_over.of_pes()], batch_us=20_000, runs=10_000, launches=6)
    start = work.start("shmem", work.situations[0], 1, 7)
    assert " ".join(start.command).endswith("--runs 1667")
    assert start.limit_s == 7200


def test_workloads_of_the_paper_are_between_as_many_hosts_as_in_its_figures():
    more = {"workloads": work_campaign.WORKLOADS, "as_printed": True}

    def shown(ranks: tuple[int, ...]) -> dict[int, set[str]]:
        work = campaign(work_over.of_hosts(FourHosts(4), True, None), ranks=ranks, **more)
        starts = {where.ranks: work.start("udp", where, 1, 7).command for where in work.situations}
        lists = {number: words[words.index("--workload") + 1] for number, words in starts.items()}
        return {number: set(text.split(",")) for number, text in lists.items()}

    found = shown((2, 4, 8, 16))
    everywhere = {*work_campaign.FINE, "64", "256", "1024", "4096", "360us"}
    assert found[2] == found[4] == everywhere
    assert found[8] == everywhere | set(work_campaign.APPLICATIONS)
    assert found[16] == everywhere | set(work_campaign.VARYING)
    assert shown((2, 4))[4] == set(work_campaign.WORKLOADS)  # the nearest


def test_names_choose_among_barriers_of_hosts_and_leave_the_mpi_beside_them():
    over = work_over.of_hosts(FourHosts(4), False, (OPEN_MPI, Path("/built/mpi")))
    work = campaign(over, only=("mcs+park",))
    assert "--only mcs+park" in started(work, "udp", 4)
    assert "--only MPI_Barrier" in started(work, "mpi.stock", 4)
    assert "--cards" not in started(work, "udp", 4)


def test_pes_do_nothing_but_the_workload():
    text = started(campaign([work_over.of_pes()]), "shmem", 2)
    assert "/built/tollbar-bench-shmem --away-ms 0 --skew-us 0 --placement pinned" in text


def test_ten_thousand_runs_of_the_longest_application_may_take_hours():
    work = campaign([work_over.of_pes()], batch_us=100_000_000, full=True)
    start = work.start("shmem", work.situations[0], 1, 7)
    assert start.limit_s == 7200
    assert " ".join(start.command).endswith("--batch-us 100000000")


def test_what_is_asked_of_hosts_makes_as_many_loops_as_the_paper():
    usual, full = (campaign_module.amounts("work_over_hosts", each) for each in ("usual", "full"))
    assert usual["runs"] == 10_000
    assert full["runs"] == 10_000 * full["launches"]
    assert campaign_module.amounts("work_over_hosts", "quick")["runs"] == 0


def test_every_figure_has_its_workloads_in_the_quick_list_too():
    for wanted in ("0", "129.75", "4096", "64~0.2", "4096~0.2", *work_campaign.APPLICATIONS):
        assert wanted in work_campaign.QUICK
    assert set(work_campaign.QUICK) <= set(work_campaign.WORKLOADS)


def test_a_workload_is_spelled_the_same_here_and_in_the_measuring_programs():
    assert tollbar.parse_workload("64~0.2") == ([64.0], 0.2)
    assert sum(tollbar.parse_workload("9450us")[0]) == 9450
    with pytest.raises(ValueError, match="'quick' is not a computing time"):
        tollbar.parse_workload("quick")

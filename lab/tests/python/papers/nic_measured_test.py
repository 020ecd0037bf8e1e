# SPDX-License-Identifier: Apache-2.0
"""The NIC paper's figures from measurements that are known: the fit, the efficiencies, the figures."""

import pytest
import tollbar_lab
from tollbar.data import results, samples
from tollbar_lab.models import workloads
from tollbar_lab.papers import nic, nic_measured
from tollbar_lab.papers.exhibit import at
from tollbar_lab.papers.nic_measured import CARD, GM_CARD, HOST, LEVELS
from tollbar_lab.papers.stored import Stored


@pytest.fixture
def runs(tmp_path, replay_nic):
    """Stored runs of bench nic, plain and with workloads."""
    replay_nic.store_both(tmp_path)
    return tmp_path


def read(runs, kind: str) -> results.Stored:
    return results.read(results.newest(runs, kind))


def found(runs, kind: str) -> samples.Samples:
    return samples.gather([read(runs, kind)])


def test_the_model_is_found_in_latencies_that_obey_it_on_shared_processors(runs):
    hosts = nic_measured.of_hosts(found(runs, "udp"))
    for level, share in zip(LEVELS, (1, 0.5), strict=True):
        fit = hosts.fits[level]
        assert (fit.a_us / share, fit.b_us / share, fit.sdma_us / share) == pytest.approx((3, 2, 5))
        for way in level:
            for number, taken in hosts.periods(way).items():
                assert hosts.modelled_us(way, number) == pytest.approx(taken.value / 1e3)
    assert hosts.modelled_us(CARD, 7) == pytest.approx(3.5 * 11, rel=0.1)
    assert hosts.modelled_us(GM_CARD, 7) == pytest.approx(hosts.modelled_us(CARD, 7) / 2)
    assert hosts.factor()[16].value == pytest.approx(40 / 11)


def test_each_level_is_compared_with_the_hosts_of_that_level(runs):
    hosts = nic_measured.of_hosts(found(runs, "udp"))
    for level, host in zip(LEVELS, (1, 0.5), strict=True):
        assert hosts.factor(level)[16].value == pytest.approx(40 / 11)
        assert hosts.periods(level[0])[16].value == pytest.approx(8 * 40e3 * host)


def test_with_no_component_the_barriers_of_the_preload_are_hb_and_nb(replay_nic, as_samples):
    made = []
    for setting in ("preload by messages", "preload on cards"):
        facts = {"mpi": "Open MPI 5.0.7", "hosts": "4", "setting": setting, "door": "preload"}
        made.append((0, f"mpi.{setting}", replay_nic.barriers(4, ("MPI_Barrier", "door"), **facts)))
    hosts = nic_measured.of_hosts(as_samples(*made, kind="udp"))
    names = [nic_measured.find(way, hosts.by_hosts[4].candidates).name for way in (HOST, CARD)]
    assert names == ["MPI_Barrier [preload by messages]", "MPI_Barrier [preload on cards]"]


def test_the_computing_for_an_efficiency_is_exact_where_loops_are_straight():
    loops = {us: us + 10.0 for us in (0.0, 1.5, 4.5, 64.0, 256.0)}
    for efficiency in (0.25, 0.5, 0.75, 0.9):
        needed = workloads.needed(loops, efficiency)
        assert needed.compute_us == pytest.approx(tollbar_lab.nic_compute_us(10.0, efficiency))
        assert needed.loop_us == pytest.approx(tollbar_lab.nic_loop_us(10.0, efficiency))


def test_a_loop_that_falls_below_an_efficiency_again_does_not_reach_it():
    loops = {0.0: 10.0, 10.0: 15.0, 20.0: 50.0, 40.0: 50.0}
    assert workloads.needed(loops, 0.5).compute_us > 20
    assert workloads.needed(loops, 0.9) is None


def test_only_computing_that_does_not_vary_counts_for_an_efficiency(runs):
    work = nic_measured.of_work(workloads.gather(found(runs, "work")))
    needed = nic_measured.needed(work[8], HOST, 0.75)
    assert needed.compute_us == pytest.approx(3 * 120)
    assert needed.loop_us == pytest.approx(4 * 120)


def test_the_papers_figures_have_this_machines_hosts_and_cards_beside_them(runs):
    found = {each.number: each for each in nic.exhibits(Stored(runs))}
    assert at(found["Figure 3"].points, "MPI NB", 16).measured == pytest.approx(8 * 11)
    assert at(found["Figure 3"].points, "GM NB", 16).measured == pytest.approx(8 * 5.5)
    assert at(found["Figure 4a"].points, "NB", 16).measured == pytest.approx(8 * 11)
    assert at(found["Figure 4a"].points, "NB, GM level", 16).measured == pytest.approx(8 * 5.5)
    assert at(found["Figure 4a"].points, "HB, the MPI's own", 16).measured == pytest.approx(8 * 80)
    gm = at(found["Figure 4b"].points, "GM level", "any")
    assert (gm.published, gm.measured) == (1.83, pytest.approx(40 / 11))
    assert gm.model == pytest.approx(2.196, abs=1e-3)
    assert at(found["Figure 5b"].points, "HB over NB", 4).measured == pytest.approx(20 / 7)
    assert at(found["Figure 7b"].points, "HB", 8).measured == pytest.approx(2 * 120)
    assert at(found["Figure 7b"].points, "HB (C by the text)", 8).measured == pytest.approx(120)
    assert at(found["Figure 9"].points, "0%, 16 hosts", 1024).measured == pytest.approx(320 - 88)
    assert at(found["Figure 9"].points, "0%, GM level, 16 hosts", 1024).measured == pytest.approx(160 - 44)
    of_mpi, of_gm = (
        at(found["Figure 10b"].points, f"HB over NB{text}, 8 hosts", "360us") for text in ("", ", GM level")
    )
    assert 1 < of_gm.measured < of_mpi.measured
    for number in ("Figure 4a", "Figure 4b", "Figure 6", "Figure 7c", "Figure 8", "Figure 10a", "Figure 10c"):
        here = [point for point in found[number].points if point.measured is not None]
        assert here
        foretold = [point for point in here if point.predicted is not None]
        without = {point.series for point in here} - {point.series for point in foretold}
        assert all("the MPI's own" in series or series == "GM level" for series in without)
        worst = 12 if number in ("Figure 8", "Figure 10a", "Figure 10c") else 1e-3  # drawn times, and their mean
        assert max(abs(point.predicted_off_pct) for point in foretold) < worst
    assert found["Figure 4a"].missing is None

# SPDX-License-Identifier: Apache-2.0
"""The NIC paper's figures from measurements that are known: the fit, the efficiencies, the report."""

from __future__ import annotations

import dataclasses

import pytest
import tollbar
from tollbar.campaigns import work as work_campaign
from tollbar.data import results, samples, workloads
from tollbar.papers import nic
from tollbar.papers.exhibit import at
from tollbar.papers.stored import Stored
from tollbar.report import nic_measured, nic_section
from tollbar.report import page as report
from tollbar.report.nic_measured import CARD, HOST


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
    terms = {name: term.us for name, term in hosts.fit.terms.items()}
    assert terms == pytest.approx({"H": 10, "a": 3, "b": 2, "SDMA": 5})
    assert hosts.off()[-1] < 1e-6
    assert hosts.modelled_us(CARD, 7) == pytest.approx(3.5 * 11, rel=0.1)
    assert hosts.factor()[16].value == pytest.approx(40 / 11)


def test_the_computing_for_an_efficiency_is_exact_where_loops_are_straight():
    loops = {us: us + 10.0 for us in (0.0, 1.5, 4.5, 64.0, 256.0)}
    for efficiency in (0.25, 0.5, 0.75, 0.9):
        needed = workloads.needed(loops, efficiency)
        assert needed.compute_us == pytest.approx(tollbar.nic_compute_us(10.0, efficiency))
        assert needed.loop_us == pytest.approx(tollbar.nic_loop_us(10.0, efficiency))


def test_a_loop_that_falls_below_an_efficiency_again_does_not_reach_it():
    loops = {0.0: 10.0, 10.0: 15.0, 20.0: 50.0, 40.0: 50.0}
    assert workloads.needed(loops, 0.5).compute_us > 20
    assert workloads.needed(loops, 0.9) is None


def test_only_computing_that_does_not_vary_counts_for_an_efficiency(runs):
    work = nic_measured.of_work(workloads.gather(found(runs, "work")))
    needed = nic_measured.needed(work[8], HOST, 0.75)
    assert needed.compute_us == pytest.approx(3 * 120)
    assert needed.loop_us == pytest.approx(4 * 120)


def test_every_figure_is_there_and_says_which_of_the_paper_it_is(runs):
    section = nic_section.of(found(runs, "udp"), found(runs, "work"))
    assert [figure.name.removeprefix("nic-") for figure in section.figures] == [
        "3", "4a", "4b", "cpu", "6-2", "6-8", "7a", "7b", "7c", "7d", "8", "9", "9-factor",
        "10a", "10b", "10c",
    ]  # fmt: skip
    assert "a step costs 10 µs by the host; on the card 3 µs once and 2 µs a step" in section.model
    row = section.rows[-1]
    assert (row["hosts"], row["of_cpu"]) == (16, pytest.approx(11 / 40))
    assert row["of_mpi"].value == pytest.approx(80 / 11)
    drawn = {figure.name.removeprefix("nic-"): figure.svg for figure in section.figures}
    for number in ("4a", "6-8", "7d", "8", "9", "10a", "10c"):
        assert "by the model" in drawn[number]


def test_without_cards_there_is_no_such_section(replay_nic, as_samples):
    bare = as_samples((0, "udp", replay_nic.barriers(4, ("pairwise", "udp"))), kind="udp")
    assert nic_section.of(bare, None) is None
    assert nic_section.of(None, None) is None


def test_the_page_has_the_section_and_the_numbers_to_download(runs):
    some = dataclasses.replace(read(runs, "work"), launches=read(runs, "work").launches[:1])
    text = report.page(read(runs, "udp"), dataclasses.replace(some, launches=some.launches[:0]))
    assert '<section id="nic">' in text
    assert "away until the time has passed" in text
    assert "-work.csv" in text
    lines = report.records_csv(some, "work").splitlines()
    assert len(lines) == 1 + len(work_campaign.QUICK)  # of the MPI, whose file comes first
    assert lines[0].startswith("group,program,placement,ranks,round,name,kind,wait,workload")


def test_the_papers_figures_have_this_machines_hosts_and_cards_beside_them(runs):
    found = {each.number: each for each in nic.exhibits(Stored(runs))}
    assert at(found["Figure 3"].points, "MPI NB", 16).measured == pytest.approx(8 * 80)
    assert at(found["Figure 4a"].points, "NB", 16).measured == pytest.approx(8 * 11)
    assert at(found["Figure 5b"].points, "HB over NB", 4).measured == pytest.approx(20 / 7)
    assert at(found["Figure 7b"].points, "HB", 8).measured == pytest.approx(2 * 120)
    assert at(found["Figure 7b"].points, "HB (C by the text)", 8).measured == pytest.approx(120)
    assert at(found["Figure 9"].points, "0%, 16 hosts", 1024).measured == pytest.approx(320 - 88)
    assert at(found["Figure 10b"].points, "HB over NB, 8 hosts", "360us").measured > 1
    for number in ("Figure 4a", "Figure 4b", "Figure 6", "Figure 7c", "Figure 8", "Figure 10a", "Figure 10c"):
        here = [point for point in found[number].points if point.measured is not None]
        assert here
        foretold = [point for point in here if point.predicted is not None]
        assert {point.series.partition(",")[0] for point in here} - {"MPI over TCP"} == {
            point.series.partition(",")[0] for point in foretold
        }
        worst = (
            12 if number in ("Figure 8", "Figure 10a", "Figure 10c") else 1e-3
        )  # drawn times, and their mean
        assert max(abs(point.predicted_off_pct) for point in foretold) < worst
    assert found["Figure 4a"].missing is None

# SPDX-License-Identifier: Apache-2.0
"""tollbar simulate nic."""

import pytest
import tollbar as library
import tollbar_lab

COLUMNS = (
    "plan,card,nodes,steps,application,compute_us,variation,host_us,nic_us,factor,saved_us,"
    "host_efficiency,nic_efficiency"
)


def simulate(tollbar, *arguments):
    return tollbar("simulate", "nic", *arguments, "--csv").csv


def refusal(tollbar, *arguments):
    return tollbar("simulate", "nic", *arguments).refusal


def test_the_presets_give_what_the_paper_prints(tollbar):
    (slow,) = simulate(tollbar, "--card", "lanai4.3", "--ranks", 16)
    (fast,) = simulate(tollbar, "--card", "lanai7.2", "--ranks", 8)
    for row, host_us, nic_us, factor in [(slow, 216.70, 105.37, 2.057), (fast, 102.86, 46.41, 2.216)]:
        assert float(row["host_us"]) == pytest.approx(host_us, abs=0.05)
        assert float(row["nic_us"]) == pytest.approx(nic_us, abs=0.05)
        assert float(row["factor"]) == pytest.approx(factor, abs=0.005)


def test_the_columns_are_stable(tollbar):
    assert ",".join(simulate(tollbar)[0]) == COLUMNS


def test_a_row_for_each_plan_card_size_and_time(tollbar):
    rows = simulate(tollbar, "mcs", "bst", "--ranks", "4..5,8", "--compute", "1,2")
    assert len(rows) == 2 * 2 * 3 * 2
    assert {row["card"] for row in rows} == set(tollbar_lab.nic_presets())


def test_varying_arrival_lessens_what_the_card_saves(tollbar):
    rows = simulate(tollbar, "--card", "lanai4.3", "--ranks", 16, "--compute", "1024,1024~0.1,1024~0.2")
    saved = [float(row["saved_us"]) for row in rows]
    assert saved[0] > saved[1] > saved[2] > 0


def test_the_same_question_has_the_same_answer(tollbar):
    assert simulate(tollbar, "--compute", "100~0.3") == simulate(tollbar, "--compute", "100~0.3")


def test_applications_without_variation_give_the_additive_factors(tollbar):
    rows = simulate(tollbar, "--card", "lanai7.2", "--compute", "360us~0,2100us~0,9450us~0")
    assert [float(row["compute_us"]) for row in rows] == [360, 2100, 9450]
    factors = [1.62, 1.37, 1.06]
    assert [float(row["factor"]) for row in rows] == pytest.approx(factors, abs=0.01)
    (varied,) = simulate(tollbar, "--card", "lanai7.2", "--compute", "9450us")
    assert varied["variation"] == "0.1"


def test_a_card_of_ones_own(tollbar):
    (row,) = simulate(tollbar, "--card", "send=1,sdma=2,network=3,recv=4,rdma=5,hrecv=6", "--ranks", 4)
    assert row["card"] == "parts"
    assert (float(row["host_us"]), float(row["nic_us"])) == (2 * 21, 12 + 2 * 7)


def test_one_node_has_nothing_to_do(tollbar):
    (row,) = simulate(tollbar, "--card", "lanai4.3", "--ranks", 1)
    assert (float(row["host_us"]), float(row["nic_us"]), float(row["factor"])) == (0, 0, 1)


def test_an_interrupted_simulation_says_how_far_it_came(tollbar, monkeypatch):
    def interrupted(*_, watch, **__):
        watch(2e6, 1, 4)
        raise KeyboardInterrupt

    monkeypatch.setattr(tollbar_lab, "simulate_nic", interrupted)
    said = tollbar("simulate", "nic", "--card", "lanai4.3")
    assert said.code == 130
    assert "row 1 of 1: 2 s were simulated, 25.0% of the barriers passed" in said.err


def test_spans_and_steps_are_python_values():
    outcome = tollbar_lab.simulate_nic(
        library.plan("pairwise", 2), "nic", tollbar_lab.nic_parts("lanai4.3"), most_spans=3
    )
    assert [span.stage for span in outcome.history] == ["send", "send", "xmit"]
    assert tollbar_lab.nic_steps(library.plan("pairwise", 7)) == (4, [4, 4, 4, 3, 2, 2, 2])
    with pytest.raises(ValueError, match="one of host, nic, not 'card'"):
        tollbar_lab.simulate_nic(library.plan("bst", 2), "card", tollbar_lab.NicParts())
    with pytest.raises(ValueError, match="at least 0, not -1"):
        tollbar_lab.simulate_nic(library.plan("bst", 2), "nic", tollbar_lab.NicParts(), runs=-1)

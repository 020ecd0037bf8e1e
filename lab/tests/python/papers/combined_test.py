# SPDX-License-Identifier: Apache-2.0
"""Threads inside nodes: the model of both levels, its peak, and what was measured beside a prediction."""

import pytest
import tollbar
from tollbar_lab.papers import combined
from tollbar_lab.papers.exhibit import at
from tollbar_lab.papers.stored import Stored


@pytest.fixture(scope="module")
def exhibits():
    return {each.number: each for each in combined.exhibits(Stored(nothing=True))}


def test_a_barrier_costs_what_both_levels_cost():
    # 0.25 us are the six units of a counter of 2, which has 26 with 12; 0.43 us are a round of dissemination.
    assert combined.model_us(7, 12) == pytest.approx(0.25 * 26 / 6 + 3 * 0.43)
    assert combined.model_us(2, 2) == pytest.approx(0.25 + 0.43)


@pytest.mark.parametrize(("nodes", "threads"), [(2, 2), (3, 5), (7, 12), (8, 4)])
def test_the_sum_of_the_levels_is_the_price_of_the_plan_where_both_cost_the_same(nodes, threads):
    unit = tollbar.LogP(L=1, o=1, g=1)

    def units(plan, ranks):
        return tollbar.price(tollbar.plan(plan, ranks), unit).last_us

    both = units(f"central@{threads}/dissemination", nodes * threads)
    assert both == units("central", threads) + units("dissemination", nodes)


def test_the_tree_between_nodes_has_the_costs_of_its_own_figure(exhibits):
    # 0.5 us are the price of a tree of 2.
    assert combined.tree_us(2, 2) == pytest.approx(0.25 + 0.5)
    assert at(exhibits["Section 1.3.1"].points, "12 threads a node", 8).model == combined.tree_us(8, 12)


def test_the_printed_peak_is_one_of_four_and_with_contention_it_is_elsewhere():
    assert combined.highest(contended=False) == [5, 6, 7, 8]
    assert combined.highest(contended=True) == [8]


def test_the_figures_have_the_paper_s_nodes_and_threads(exhibits):
    points = exhibits["Figure 14"].points
    assert len(points) == 7 * 11
    assert max(point.model for point in points) == at(points, "12 threads a node", 7).model
    across = at(exhibits["Figure 13b"].points, "7 nodes", 12).model
    along = at(exhibits["Figure 13a"].points, "12 threads a node", 7).model
    assert across == along == combined.model_us(7, 12)


def test_figure_14_is_a_heat_map_with_a_scale_a_unit_and_the_paper_s_peak(exhibits):
    drawn = exhibits["Figure 14"].drawing
    for text in ("nodes, or ranks", "threads a node, or a rank", "barrier, us", "peak, 7 nodes of 12 threads"):
        assert text in drawn
    assert "<image" in drawn  # the colours


def test_the_sentence_says_what_the_model_makes_of_the_peak(exhibits):
    told = exhibits["Figure 14"].sentence
    assert "2.37 us, as with 5, 6 and 8 nodes" in told
    assert "the peak is at 8" in told

# SPDX-License-Identifier: Apache-2.0
"""The best n of a combining tree, and of what else has one parameter."""

import pytest
import tollbar
from tollbar.models import logp_best

SET_A = tollbar.LogP(10, 5, 3)


def best(algorithm, ranks, logp=SET_A):
    return [each.parameter for each in logp_best.best(logp_best.curve(algorithm, ranks, logp))]


def test_the_best_is_the_least_of_all_prices_and_ties_are_told():
    prices = {n: tollbar.price(tollbar.plan(f"combining:{n}", 64), SET_A).last_us for n in range(2, 65)}
    assert best("combining", 64) == [n for n, us in prices.items() if us == min(prices.values())]
    assert 4 in best("combining", 64)


def test_the_papers_4_is_best_at_64_and_256_ranks_where_the_overhead_is_a_quarter_of_a_message():
    quarter = tollbar.LogP(L=2, o=1, g=0)
    assert 4 in best("combining", 64, quarter)
    assert best("combining", 256, quarter) == [4]


def test_the_cheaper_the_overhead_the_wider_the_tree():
    found = dict(logp_best.best_by_share("combining", 64, (0.01, 0.1, 0.3, 0.5)))
    assert [min(found[share]) for share in (0.01, 0.1, 0.3, 0.5)] == [63, 8, 4, 3]


def test_more_ways_pay_for_dissemination_as_long_as_they_save_rounds():
    assert best("dissemination", 64) == [3]
    assert 1 in best("dissemination", 2)  # others are no other plan there


@pytest.mark.parametrize("ranks", [1, 2, 3, 100, 1000])
def test_a_parameter_is_tried_up_to_the_number_of_ranks(ranks):
    tried = logp_best.candidates("combining", ranks)
    assert tried == sorted(set(tried))
    assert tried[0] == 2
    assert tried[-1] == max(ranks, 2)
    assert set(tried) >= set(range(2, min(ranks, 64) + 1))


def test_algorithms_with_one_number_are_found_in_the_catalogue():
    assert set(logp_best.algorithms()) == {"combining", "fway_tournament", "dissemination"}


def test_the_figure_marks_the_cheapest_of_each_size():
    prices, shares = logp_best.figure("combining", (8, 16), SET_A).axes
    for ranks, marked in zip((8, 16), prices.lines[1::2], strict=True):
        assert list(marked.get_xdata()) == best("combining", ranks)
    assert [text.get_text() for text in shares.get_legend().get_texts()] == ["8 ranks", "16 ranks"]

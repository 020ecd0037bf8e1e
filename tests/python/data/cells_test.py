# SPDX-License-Identifier: Apache-2.0
"""The cells of `tollbar bench company`: what is the best there, and how far everybody is from it."""

import pytest
from tollbar.data import cells, samples
from tollbar.data.cells import Cell


@pytest.fixture
def there(stored_company):
    return cells.gather(samples.read([stored_company(ranks=(2, 8))]))


def test_a_cell_is_company_placement_computing_and_ranks(there):
    assert len(there) == 2 * 2 * 2 * 2
    assert next(iter(there)) == Cell("alone", "free", "0", 2)
    assert {cell.company for cell in there} == {"alone", "1 neighbour"}


def test_the_best_is_the_fastest_fixed_policy_or_peer(there):
    assert there[Cell("alone", "free", "0", 8)].best == "tollbar::barrier (spin)"
    beside = there[Cell("1 neighbour", "free", "0", 8)]
    assert beside.best == "tollbar::barrier (park)"
    assert beside.ratio(cells.AUTO) == pytest.approx(22 / 20, rel=0.05)
    assert beside.ratio("pthread_barrier", "tollbar::barrier (park)") == pytest.approx(25 / 20, rel=0.05)


def test_computing_belongs_to_a_turn(there):
    assert there[Cell("alone", "free", "20~0.5", 2)].median(cells.AUTO) == pytest.approx(21e3, rel=0.05)


def test_without_a_policy_or_peer_the_best_is_the_fastest_of_all(stored_company):
    found = cells.gather(samples.read([stored_company(only="turnstile,combination")]))
    assert found[Cell("alone", "pinned", "0", 2)].best == "combination"
    assert found[Cell("alone", "pinned", "0", 2)].ratio("mcs") is None


def test_a_spread_has_the_median_and_the_worst_cell_and_counts_those_that_are_far(there):
    beside = cells.by_company(there)["1 neighbour"]
    assert {cell.company for cell in beside} == {"1 neighbour"}
    found = cells.spread(beside, "std::barrier")
    assert len(found.ratios) == 8
    assert found.worst.workload == "0"
    assert found.ratios[found.worst] == max(found.ratios.values()) > found.median > 1
    assert found.above == 8
    assert cells.spread(beside, cells.AUTO, "std::barrier").above == 0
    assert cells.spread(beside, cells.TUNED) is None


def test_a_cell_is_told_with_its_company_and_without():
    cell = Cell("1 neighbour", "free", "20~0.5", 2)
    assert cell.place == "2 threads free, 20 µs ± 50 % between"
    assert cell.text == f"{cell.place}, 1 neighbour"
    assert Cell("alone", "pinned", "0", 4).place == "4 threads pinned, nothing between"
    assert Cell("alone", "pinned", "5", 4).work == "5 µs"


def test_a_run_of_another_bench_has_no_cells(stored):
    assert cells.gather(samples.read([stored(ranks=(2,), launches=1)])) == {}

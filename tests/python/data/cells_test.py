# SPDX-License-Identifier: Apache-2.0
"""The cells of `tollbar bench threads`: what is the best there, and how far everybody is from it."""

import pytest
from tollbar.data import cells, samples
from tollbar.data.places import Situation


def situation(there, *wanted):
    """That with these neighbours, placement, computing and ranks."""
    by = {(place.neighbours, place.placement, place.computing, place.ranks): place for place in there}
    return there[by[wanted]]


@pytest.fixture
def there(stored_beside):
    return cells.gather(samples.read([stored_beside(ranks=(2, 8))]))


def test_a_cell_is_neighbours_placement_computing_and_ranks(there):
    assert len(there) == 2 * 2 * 2 * 2
    first = next(iter(there))
    assert (first.neighbours, first.placement, first.computing, first.ranks) == ("plain", "free", "0", 2)
    assert {cell.neighbours for cell in there} == {"plain", "1 neighbour"}


def test_the_best_is_the_fastest_fixed_policy_or_peer(there):
    assert cells.best(situation(there, "plain", "free", "0", 8)) == "tollbar::barrier (spin)"
    busy = situation(there, "1 neighbour", "free", "0", 8)
    assert cells.best(busy) == "tollbar::barrier (park)"
    assert cells.over_best(busy, cells.AUTO).value == pytest.approx(22 / 20, rel=0.05)
    assert cells.ratio(busy, "pthread_barrier", "tollbar::barrier (park)").value == pytest.approx(25 / 20, rel=0.05)


def test_computing_belongs_to_a_turn(there):
    assert cells.turn_ns(situation(there, "plain", "free", "20~0.5", 2), cells.AUTO) == pytest.approx(21e3, rel=0.05)


def test_without_a_policy_or_peer_the_best_is_the_fastest_of_all(stored_beside):
    found = cells.gather(samples.read([stored_beside(only="turnstile,combination")]))
    assert cells.best(situation(found, "plain", "pinned", "0", 2)) == "combination"
    assert cells.ratio(situation(found, "plain", "pinned", "0", 2), "mcs", "turnstile") is None


def test_cells_are_counted_that_are_above_for_certain_and_that_may_be(stored_beside):
    there = cells.gather(samples.read([stored_beside(ranks=(2,), launches=9, placements=("free",))]))
    busy = cells.by_neighbours(there)["beside a busy neighbour"]
    assert {cell.neighbours for cell in busy} == {"1 neighbour"}
    assert cells.count(busy, "std::barrier").text == "2 / 2 / 2"
    assert cells.count(busy, cells.AUTO, "std::barrier").text == "0 / 0 / 2"
    assert cells.count(busy, cells.AUTO, "std::barrier", limit=0.001).certain == 2
    assert cells.count(busy, cells.TUNED) is None


def test_of_a_cell_with_few_launches_nothing_is_certain(there):
    busy = cells.by_neighbours(there)["beside a busy neighbour"]
    assert cells.count(busy, "std::barrier") == cells.Count(0, 8, 8, 3)


def test_a_situation_is_told_with_its_computing():
    assert Situation(computing="20~0.5").work == "20 µs ± 50 %"
    assert Situation(computing="5").work == "5 µs"


def test_a_run_of_another_bench_has_no_cells(stored):
    assert cells.gather(samples.read([stored(ranks=(2,), launches=1)])) == {}

# SPDX-License-Identifier: Apache-2.0
"""The cells of `tollbar bench threads --beside`: what is the best there, and how far everybody is from it."""

import pytest
from tollbar.data import beside, samples
from tollbar.data.places import Situation


def situation(there, *wanted):
    """That with these neighbours, placement, computing and ranks."""
    by = {(place.neighbours, place.placement, place.computing, place.ranks): place for place in there}
    return there[by[wanted]]


@pytest.fixture
def there(stored_beside):
    return beside.gather(samples.read([stored_beside(ranks=(2, 8))]))


def test_a_cell_is_neighbours_placement_computing_and_ranks(there):
    assert len(there) == 2 * 2 * 2 * 2
    first = next(iter(there))
    assert (first.neighbours, first.placement, first.computing, first.ranks) == ("alone", "free", "0", 2)
    assert {cell.neighbours for cell in there} == {"alone", "1 neighbour"}


def test_the_best_is_the_fastest_fixed_policy_or_peer(there):
    assert beside.best(situation(there, "alone", "free", "0", 8)) == "tollbar::barrier (spin)"
    busy = situation(there, "1 neighbour", "free", "0", 8)
    assert beside.best(busy) == "tollbar::barrier (park)"
    assert beside.over_best(busy, beside.AUTO).value == pytest.approx(22 / 20, rel=0.05)
    assert beside.ratio(busy, "pthread_barrier", "tollbar::barrier (park)").value == pytest.approx(25 / 20, rel=0.05)


def test_computing_belongs_to_a_turn(there):
    assert beside.turn_ns(situation(there, "alone", "free", "20~0.5", 2), beside.AUTO) == pytest.approx(21e3, rel=0.05)


def test_without_a_policy_or_peer_the_best_is_the_fastest_of_all(stored_beside):
    found = beside.gather(samples.read([stored_beside(only="turnstile,combination")]))
    assert beside.best(situation(found, "alone", "pinned", "0", 2)) == "combination"
    assert beside.ratio(situation(found, "alone", "pinned", "0", 2), "mcs", "turnstile") is None


def test_cells_are_counted_that_are_above_for_certain_and_that_may_be(stored_beside):
    cells = beside.gather(samples.read([stored_beside(ranks=(2,), launches=9, placements=("free",))]))
    busy = beside.by_neighbours(cells)["1 neighbour"]
    assert {cell.neighbours for cell in busy} == {"1 neighbour"}
    assert beside.count(busy, "std::barrier").text == "2 / 2 / 2"
    assert beside.count(busy, beside.AUTO, "std::barrier").text == "0 / 0 / 2"
    assert beside.count(busy, beside.AUTO, "std::barrier", limit=0.001).certain == 2
    assert beside.count(busy, beside.TUNED) is None


def test_of_a_cell_with_few_launches_nothing_is_certain(there):
    busy = beside.by_neighbours(there)["1 neighbour"]
    assert beside.count(busy, "std::barrier") == beside.Count(0, 8, 8, 3)


def test_a_situation_is_told_with_its_computing():
    assert Situation(placement="free", computing="20~0.5", ranks=2).of_threads == "2 threads free, 20 µs ± 50 % between"
    assert Situation(placement="pinned", ranks=4).of_threads == "4 threads pinned, nothing between"
    assert Situation(computing="5").work == "5 µs"


def test_a_run_of_another_bench_has_no_cells(stored):
    assert beside.gather(samples.read([stored(ranks=(2,), launches=1)])) == {}

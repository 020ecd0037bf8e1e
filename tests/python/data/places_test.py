# SPDX-License-Identifier: Apache-2.0
"""The table by place: candidates, medians and ratios of each situation, and the floors under them."""

import pytest
from tollbar.data import places, samples
from tollbar.data.places import Candidate, Situation
from tollbar.data.samples import Samples
from tollbar.data.summary import floors, series


@pytest.fixture(scope="module")
def there(stored_once):
    found = places.threads(samples.read([stored_once]))
    return {(place.placement, place.ranks): here for place, here in found.items()}


def test_situations_come_pinned_first_and_fewest_ranks_first(there):
    assert list(there) == [(p, r) for p in ("pinned", "free") for r in (2, 4, 8)]
    assert [here.place.crowded for here in there.values()] == [False, True, True] * 2


def test_places_are_made_of_records_and_never_of_a_row_for_each_value(stored_once, monkeypatch):
    found = samples.read([stored_once])
    monkeypatch.setattr(Samples, "rows", property(lambda self: pytest.fail("all rows were made")))
    made = places.gather(found, ("bench", *places.PROCESSES))
    wanted = found.of("latency_ns").filter(placement="pinned", ranks=2, candidate="mcs")["value"].to_list()
    here = next(here for place, here in made.items() if (place.placement, place.ranks) == ("pinned", 2))
    assert here.latencies(here.find("mcs")).tolist() == wanted
    assert here.median("mcs", "tail").value > 1


def test_a_place_has_the_columns_of_the_table():
    assert Situation()._asdict() == samples.PLACE


def test_a_period_is_divided_by_the_floor_of_its_own_round(there):
    here = there["pinned", 2]
    known = floors(here.samples)
    periods = here.samples.of("period_ns").filter(candidate="mcs").join(known, on=samples.ROUND)
    wanted = sorted(periods["value"] / periods["floor"])
    assert sorted(here.samples.of("over_floor").filter(candidate="mcs")["value"]) == wanted
    assert wanted == pytest.approx([2.0] * len(wanted), rel=0.15)


def test_the_floor_is_that_of_the_first_program(there):
    programs = there["free", 8].samples.of("floor")["program"].unique().to_list()
    assert programs == ["tollbar-bench-omp-gomp"]


def test_switches_are_counted_for_an_episode(there):
    assert there["free", 8].median("combination", "switches").value == 6.0
    assert there["pinned", 2].median("combination", "switches").value == 0.0


def test_barriers_of_two_processes_are_compared_over_their_own_floors(there):
    found = there["pinned", 2].ratio("libgomp", "mcs")
    assert found.value == pytest.approx(2.5, rel=0.1)  # although the processes' floors differ up to sixfold


def test_what_was_never_measured_together_has_no_ratio(there):
    assert there["pinned", 2].ratio("mcs", "nobody's barrier") is None
    assert there["pinned", 2].median("mcs", "run_ns") is None
    assert there["pinned", 2].median(None, "period_ns") is None


def test_a_candidate_is_found_under_its_policy_or_its_usual_one(there):
    here = there["free", 8]
    assert here.find("turnstile").label == "turnstile"
    assert here.find("turnstile", "park") == Candidate("turnstile", "turnstile", "park")
    assert here.find("turnstile", "yield") is None


def test_what_was_left_out_is_known_by_its_name_and_policy(there):
    assert there["free", 8].skipped == {("ck_mcs", "auto"): "spins"}


def test_a_latency_of_nothing_has_a_logarithm_all_the_same(replay, as_samples):
    records = replay.records("tollbar-bench-threads", 2, "free", 1, 1, "mcs")
    for record in records:
        if record["record"] == "episodes":
            record["latency_ns"] = [0.0] * len(record["latency_ns"])
    (here,) = places.threads(as_samples((0, "p", records))).values()
    assert here.ratio("mcs", "mcs", "latency_ns").value == 1.0
    rows = here.samples.of("latency_ns").filter(candidate="mcs")
    assert series(rows) == {("run", 0): {0: 1e-3}}


def test_the_tail_is_the_99th_percentile_over_the_median(there):
    here = there["free", 8]
    assert here.median("std::barrier", "tail").value > 10
    assert here.median("mcs", "tail").value < 1.2


def test_where_no_floor_was_measured_nothing_is_divided_by_one(replay, as_samples):
    records = replay.records("tollbar-bench-threads", 2, "free", 1, 1, "mcs")
    for record in records:
        if record["record"] == "floor":
            record.update(one_way_ns=None, yield_switch_ns=None)
    (here,) = places.threads(as_samples((0, "p", records))).values()
    assert here.floor is None
    assert here.median("mcs", "over_floor") is None
    assert here.median("mcs", "period_ns").value > 0

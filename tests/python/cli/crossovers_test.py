# SPDX-License-Identifier: Apache-2.0
"""Crossovers and curves: what they say is what single prices say."""

import pytest
import tollbar
from tollbar.cli import crossovers

LOGP = tollbar.LogP(L=10, o=5, g=3)


def us(plan: str, ranks: int, logp: tollbar.LogP = LOGP) -> float:
    return tollbar.price(tollbar.plan(plan, ranks), logp).last_us


def test_all_small_sizes_the_ends_and_two_or_one_for_each_doubling_are_priced():
    assert crossovers.sizes(2, 5) == [2, 3, 4, 5]
    large = [size for size in crossovers.sizes(3, 1000) if size > 64]
    assert large == [96, 128, 192, 256, 384, 512, 768, 1000]
    assert crossovers.sizes(100, 130) == [100, 128, 130]
    assert crossovers.sizes(60000, 600000) == [60000, 65536, 131072, 262144, 524288, 600000]


def test_curves_are_prices():
    curves = crossovers.curves(["mcs", "dissemination"], [5, 70], LOGP)
    for plan, costs in curves.items():
        assert {ranks: cost.last_us for ranks, cost in costs.items()} == {ranks: us(plan, ranks) for ranks in (5, 70)}


@pytest.mark.parametrize("logp", [LOGP, tollbar.LogP(L=20, o=1, g=8), tollbar.LogP(L=50, o=0.1, g=0.1)], ids=str)
def test_at_small_sizes_the_plan_of_a_stretch_is_never_beaten(logp):
    plans = ["central", "combining:2", "mcs", "dissemination", "dissemination:3", "pairwise"]
    found = crossovers.stretches(crossovers.curves(plans, crossovers.sizes(2, 64), logp), logp)
    assert (found[0].ranks_from, found[-1].ranks_to) == (2, 64)
    assert [each.ranks_from for each in found[1:]] == [each.ranks_to + 1 for each in found[:-1]]
    for each in found:
        for ranks in range(each.ranks_from, each.ranks_to + 1):
            least = min(us(plan, ranks, logp) for plan in plans)
            assert us(each.plan, ranks, logp) == pytest.approx(least)
        for plan in set(plans) - {each.plan, *(each.also or "").split(",")}:
            assert us(plan, each.priced_at, logp) > us(each.plan, each.priced_at, logp)


def test_a_change_between_priced_sizes_is_found_where_it_is():
    # One latency more for the tree, an overhead a rank more for the counter: they cross at some 200 ranks.
    logp = tollbar.LogP(L=1000, o=5, g=0)
    plans = ["central", "combining:16"]
    found = crossovers.stretches(crossovers.curves(plans, crossovers.sizes(2, 4096), logp), logp)
    assert found[0].plan == "central"
    change = found[0].ranks_to
    assert change not in crossovers.sizes(2, 4096)
    assert us("central", change, logp) <= us("combining:16", change, logp)
    assert us("central", change + 1, logp) > us("combining:16", change + 1, logp)


def test_of_equal_plans_the_one_with_the_fewest_messages_is_taken():
    found = crossovers.stretches(crossovers.curves(["bst", "tournament", "mcs:2,2"], [2], LOGP), LOGP)
    assert (found[0].plan, found[0].also, found[0].runner_up) == ("bst", "tournament,mcs:2,2", None)
    curves = {name: {6: crossovers.Cost(1.0, 1.0, 1.0, messages)} for name, messages in (("a", 9), ("b", 8))}
    assert crossovers.stretches(curves, LOGP)[0].plan == "b"


def test_the_advice_is_a_sentence():
    logp = tollbar.LogP(L=1000, o=5, g=0)
    curves = crossovers.curves(["central", "combining:16"], crossovers.sizes(2, 4096), logp)
    found = crossovers.stretches(curves, logp)
    assert crossovers.sentence(found).startswith(f"Below {found[0].ranks_to + 1} ranks take central, ")
    assert crossovers.sentence(found[:1]) == f"From 2 to {found[0].ranks_to} ranks take central."

# SPDX-License-Identifier: Apache-2.0
"""The barrier to take where processors are taken away."""

import pytest
from tollbar.data import crowds
from tollbar.data.places import Candidate
from tollbar.report import crowd_section

TURNSTILE = Candidate("turnstile", "turnstile", "auto")
TREE = Candidate("mcs", "plan", "park")
SPINNER = Candidate("turnstile", "turnstile", "spin")


@pytest.mark.parametrize(("tree_us", "taken"), [(36.0, TURNSTILE), (20.0, TREE)])
def test_what_to_take_gives_way_and_needs_a_setting_only_where_that_is_worth_it(crowded, tree_us, taken):
    peer = Candidate("std::barrier", "peer", "auto")
    times = {
        TURNSTILE: (40.0, 1700.0),
        TREE: (tree_us, 1700.0),
        SPINNER: (30.0, 1600.0),  # never to be taken, however fast
        peer: (60.0, 1600.0),
    }
    measured = crowds.gather(
        crowded(
            {
                (candidate, compute_us): {"period_us": period_us}
                for candidate, both in times.items()
                for compute_us, period_us in zip((1.0, 100.0), both, strict=True)
            }
        )
    )
    (verdict,) = crowd_section.verdicts(measured)
    assert (verdict.place.ranks, verdict.place.processors, verdict.place.variation) == (16, 1, 0.0)
    assert verdict.take == taken
    fastest_us = min(tree_us, 30.0)
    assert verdict.worst.value == pytest.approx(max(times[taken][0] / fastest_us, 1700 / 1600))
    assert verdict.others["std::barrier"].value == pytest.approx(60 / fastest_us)
    assert verdict.others["turnstile (spin)"].value == pytest.approx(max(30 / fastest_us, 1))
    assert (verdict.worst.low, verdict.worst.count) == (None, 3)


def test_a_ratio_at_worst_has_its_interval_or_the_number_of_launches(crowded):
    times = {
        (candidate, us): {"period_us": period}
        for candidate, period in ((TURNSTILE, 40.0), (TREE, 30.0))
        for us in (1.0, 100.0)
    }
    said = [
        crowd_section.verdict_text(crowd_section.verdicts(crowds.gather(crowded(times, launches)))[0])
        for launches in (3, 12)
    ]
    assert "take mcs (park), at worst 1.00 times (n = 3, no interval) the fastest" in said[0]
    assert "take mcs (park), at worst 1.00 times (1.00 to 1.00) the fastest" in said[1]

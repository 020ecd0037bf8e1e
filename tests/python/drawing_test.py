# SPDX-License-Identifier: Apache-2.0
"""Pictures and exports of plans: every rank and message is there once, and the text is what readers of it expect."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import tollbar

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
SET_A = tollbar.LogP(L=10, o=5, g=3)
FAMILIES = [algorithm.name for algorithm in tollbar.catalogue()]


def drawn(spelling: str, ranks: int, logp: tollbar.LogP = SET_A) -> str:
    return tollbar.draw_svg(tollbar.plan(spelling, ranks), logp)


@pytest.mark.parametrize("ranks", [1, 2, 7, 20])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_drawing_has_one_lane_and_one_time_of_completion_a_rank_and_one_titled_arrow_a_message(name, ranks):
    plan, svg = tollbar.plan(name, ranks), drawn(name, ranks)
    ElementTree.fromstring(svg)  # well-formed
    assert svg.count('class="badge"') == svg.count('class="done"') == ranks
    assert svg.count('class="badge role"') == svg.count('class="lane played"') == len(plan.roles)
    messages = len(tollbar.messages(plan, SET_A))
    assert svg.count("marker-end=") == svg.count('<g class="message"><title>') == messages


def test_an_arrow_says_who_told_whom_and_when():
    svg = drawn("dissemination", 4)
    assert svg.count("<title>1 -&gt; 2, sent 0, received 20 us</title>") == 1
    assert svg.count("<title>1 -&gt; 3, sent 20, received 40 us</title>") == 1
    assert svg.count("<title>dissemination, 4 ranks: 40 us</title>") == 1


def test_the_lane_of_a_role_bears_its_letter_stands_behind_the_ranks_and_ends_with_its_last_message():
    svg = drawn("turnstile", 3)
    assert svg.count("<title>turnstile, 3 ranks, 1 role: 50 us</title>") == 1
    assert svg.count(">a</text>") == 1
    assert svg.count("<title>a -&gt; 2, sent 30, received 50 us</title>") == 1
    assert svg.count("<title>2 -&gt; a, sent 0, received 30 us</title>") == 1
    assert svg.index('class="badge role"') > svg.rindex('class="badge"')
    assert drawn("combination:2", 4).count(">b</text>") == 1
    assert ".played" not in drawn("mcs", 4)


@pytest.mark.parametrize("spelling", ["turnstile", "mcs"])
def test_the_drawing_for_4_ranks_is_the_stored_one(spelling):
    assert drawn(spelling, 4) == (GOLDEN / f"{spelling}_4_ranks.svg").read_text()


def test_a_drawing_has_colours_for_light_and_dark_surroundings_and_needs_nothing_from_elsewhere():
    svg = drawn("bst", 5)
    assert svg.count("@media (prefers-color-scheme: dark)") == 1
    assert svg.count("http") == 1  # the name space
    assert "href" not in svg


def test_a_name_that_looks_like_markup_is_written_as_text():
    svg = tollbar.draw_svg(tollbar.parse_plan("<b> & \"c\" 'd'", "0:"), SET_A)
    ElementTree.fromstring(svg)
    assert svg.count("&lt;b&gt; &amp; &quot;c&quot; 'd', 1 rank: 0 us") == 2


def test_times_are_written_without_spare_digits():
    assert drawn("dissemination", 2, tollbar.LogP(L=0.5, o=0.25, g=0)).count("sent 0, received 1 us") == 2
    assert drawn("central", 2, tollbar.LogP(L=0.125, o=0, g=0)).count("sent 0.125, received 0.25 us") == 1


def test_overheads_that_differ_are_both_there():
    assert "L 3, o_s 1, o_r 2, g 0.7 us" in drawn("mcs", 3, tollbar.LogP.parse("3,1,2,0.7"))


def test_a_price_of_nothing_is_drawn_too():
    ElementTree.fromstring(drawn("mcs", 9, tollbar.LogP(L=0, o=0, g=0)))


def test_a_long_episode_is_drawn_no_taller_than_a_short_one_of_many_hops():
    (height,) = re.findall(r'<svg [^>]*height="([0-9.]+)"', drawn("central", 300))
    assert 1800 < float(height) < 2100


def test_what_has_no_price_has_no_drawing_and_no_goal():
    plan = tollbar.parse_plan("mine", "0: ?1\n1:")
    why = "rank 0 awaits rank 1, which never signals it"
    with pytest.raises(tollbar.InvalidArgument, match=f"^plan 'mine' has no price: {why}$"):
        tollbar.draw_svg(plan, SET_A)
    with pytest.raises(tollbar.InvalidArgument, match=f"^plan 'mine' has no GOAL: {why}$"):
        tollbar.to_goal(plan)


def test_a_plan_of_two_ranks_is_goal_text():
    expected = """num_ranks 2

rank 0 {
l1: recv 1b from 1 tag 0
l2: send 1b to 1 tag 1
l2 requires l1
}

rank 1 {
l1: send 1b to 0 tag 0
l2: recv 1b from 0 tag 1
l2 requires l1
}
"""
    assert tollbar.to_goal(tollbar.plan("central", 2)) == expected


def test_a_set_of_awaits_is_one_step_all_of_it_requires_the_step_before_and_the_step_after_all_of_it():
    expected = """num_ranks 3

rank 0 {
l1: send 1b to 2 tag 0
l2: recv 1b from 1 tag 0
l3: recv 1b from 2 tag 1
l2 requires l1
l3 requires l1
l4: send 1b to 1 tag 3
l4 requires l2
l4 requires l3
}
"""
    assert tollbar.to_goal(tollbar.parse_plan("set", "0: !2 ?1 ?2 !1\n1: !0 ?0\n2: ?0 !0")).startswith(expected)


def test_roles_are_the_ranks_after_the_plans_own():
    expected = """num_ranks 3

rank 0 {
l1: send 1b to 2 tag 0
l2: recv 1b from 2 tag 2
l2 requires l1
}

rank 1 {
l1: send 1b to 2 tag 0
l2: recv 1b from 2 tag 3
l2 requires l1
}

rank 2 {
l1: recv 1b from 0 tag 0
l2: recv 1b from 1 tag 0
l3: send 1b to 0 tag 2
l3 requires l1
l3 requires l2
l4: send 1b to 1 tag 3
l4 requires l3
}
"""
    assert tollbar.to_goal(tollbar.plan("turnstile", 2)) == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_both_ends_of_every_message_bear_the_same_tag_and_no_channel_is_used_twice(name):
    ends = {"send": [], "recv": []}
    for rank, body in re.findall(r"rank (\d+) \{\n(.*?)\}", tollbar.to_goal(tollbar.plan(name, 11)), re.DOTALL):
        for kind, peer, tag in re.findall(r"l\d+: (send|recv) 1b (?:to|from) (\d+) tag (\d+)\n", body):
            ends[kind].append((rank, peer, tag) if kind == "send" else (peer, rank, tag))
    assert sorted(ends["send"]) == sorted(ends["recv"]) != []
    assert len(set(ends["send"])) == len(ends["send"])

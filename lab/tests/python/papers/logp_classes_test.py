# SPDX-License-Identifier: Apache-2.0
"""The four classes of complexity of the LogP paper, derived from nine plans."""

import re
from pathlib import Path

import pytest
from tollbar_lab.papers import logp_classes

PAGE = Path(__file__).resolve().parents[4] / "docs" / "algorithms" / "index.md"
NINE = [(plan, name) for name, plans in logp_classes.PRINTED.items() for plan in plans]


@pytest.mark.parametrize(("plan", "name"), NINE)
def test_each_algorithm_is_in_the_class_that_the_paper_gives_it(plan, name):
    assert logp_classes.class_of(plan) == name


def test_an_algorithm_of_another_group_size_has_another_class():
    assert logp_classes.class_of("combining:2") == "O(log2 P) with broadcast"  # which is the tournament
    assert logp_classes.class_of("fway_tournament:8") == "O(n log_n P)"


def test_the_messages_of_one_step_at_a_rank_are_those_of_its_widest_level():
    assert [logp_classes.widest("central", ranks) for ranks in (2, 5, 9)] == [1, 4, 8]
    assert logp_classes.widest("combining:8", 64) == 7
    assert logp_classes.widest("mcs", 21) == 4
    assert logp_classes.widest("tournament", 64) == 1
    assert logp_classes.widest("dissemination:3", 64) == 3


def test_a_line_and_a_logarithm_are_told_apart():
    line, logarithm = logp_classes.fits("central")
    assert line == pytest.approx(1)
    assert logarithm < 0.9
    line, logarithm = logp_classes.fits("dissemination")
    assert line < 0.8 < 0.95 < logarithm


def test_the_page_of_all_algorithms_has_the_same_classes():
    rows = re.findall(r"^[|] (O[(].*?) [|] (.*?) [|]$", PAGE.read_text(), re.MULTILINE)
    told = {name.replace("₂", "2").replace("a broadcast", "broadcast"): plans.split(", ") for name, plans in rows}
    assert told == {name: [plan.partition(":")[0] for plan in plans] for name, plans in logp_classes.PRINTED.items()}


def test_the_exhibit_says_that_all_are_as_printed():
    made = logp_classes.exhibit()
    assert made.sentence.startswith("All nine algorithms")
    assert len({point.series for point in made.points}) == 9

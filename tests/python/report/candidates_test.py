# SPDX-License-Identifier: Apache-2.0
"""Colours of barriers: one for each, the same in every figure, and different ones within a figure."""

import re
from pathlib import Path

import pytest
from tollbar.report import candidates, figures, page

STYLES = Path(page.__file__).parent / "templates" / "report.css"


def test_every_colour_is_one_of_the_page_plain_or_dashed():
    assert candidates.STYLES == 2 * figures.COLOURS
    named = re.findall(r"--series-(\d):", STYLES.read_text())
    assert {int(each) for each in named} == set(range(figures.COLOURS))


def test_what_users_have_today_comes_in_the_order_of_the_tables():
    assert candidates.PEERS == ("std::barrier", "pthread_barrier", "boost::barrier", "libgomp", "libomp")


@pytest.mark.parametrize(
    ("label", "same"),
    [
        ("turnstile (park)", "turnstile"),
        ("mcs:4,2", "mcs"),
        ("mcs (messages)", "mcs"),
        ("MPI_Barrier [bruck]", "MPI_Barrier"),
        ("pthread_barrier around MPI_Barrier", "pthread_barrier"),
    ],
)
def test_parameters_and_ways_of_waiting_do_not_change_the_colour(label, same):
    assert candidates.colour(label) == candidates.colour(same)


def test_what_has_an_entry_of_its_own_has_its_own_colour():
    assert candidates.colour("MPI_Barrier [component]") != candidates.colour("MPI_Barrier")
    assert candidates.colour("turnstile/mcs") != candidates.colour("turnstile")


def test_a_barrier_that_nobody_knows_has_a_colour_that_stays():
    assert candidates.colour("somebody's") == candidates.colour("somebody's") < candidates.STYLES


def test_within_a_figure_no_two_have_one_style_and_the_first_keeps_its_own():
    labels = ["std::barrier", "turnstile", "turnstile (yield)", "turnstile (park)", "one-shot", "MPI_Barrier"]
    styles = figures.Figure("f", "", [figures.Curve(label, [1], [1]) for label in labels], figures.Axis("x")).styles
    assert len(set(styles)) == len(labels)
    for label in ("std::barrier", "turnstile", "one-shot"):
        dash, colour = divmod(candidates.colour(label), figures.COLOURS)
        assert styles[labels.index(label)] == (colour, dash)
